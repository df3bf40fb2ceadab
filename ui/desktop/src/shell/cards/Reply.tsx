import { ArrowUp } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useRef, useState } from "react";
import { promptKey, room } from "#base/domain/prompt.ts";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import type { Card } from "../../domain/card";
import { deskWords } from "../../i18n/desk";
import { useWords } from "../../i18n/words";
import { useSession } from "../../session/session";
import { useTyped } from "../../session/useTyped";

/** Goes on from an answer: a run of its own, whose Director is told what was asked and answered here. */
export function Reply({ card }: { card: Card }) {
  const t = useWords(deskWords);
  const session = useSession();
  // A reply that failed is not lost: its words are here, to be sent once more.
  const typed = useTyped("reply", card.run, card.state === "failed" && card.after ? card.prompt : "");
  const { text } = typed;
  const [busy, setBusy] = useState(false);
  const key = useRef(crypto.randomUUID());
  const send = async (e?: FormEvent) => {
    e?.preventDefault();
    if (text.trim() === "" || room(text).over || busy) return;
    setBusy(true);
    try {
      const about = { after: card.run, ...(card.repo ? { repo: card.repo } : {}) };
      await typed.send(() => session.prompt(text, key.current, about));
      key.current = crypto.randomUUID();
      document.getElementById("prompt")?.focus();
    } catch (error) {
      notifyProblem(error);
    } finally {
      setBusy(false);
    }
  };
  const press = (e: KeyboardEvent) => {
    const means = promptKey({ key: e.key, shiftKey: e.shiftKey, isComposing: e.nativeEvent.isComposing });
    if (means !== "send") return;
    e.preventDefault();
    unawaited(send());
  };
  return (
    <form className="card-reply" onSubmit={(e) => unawaited(send(e))}>
      <textarea
        rows={1}
        aria-label={t("reply")}
        placeholder={t("replyPlaceholder")}
        value={text}
        onChange={(e) => {
          typed.change(e.target.value);
          key.current = crypto.randomUUID();
        }}
        onKeyDown={press}
      />
      <button
        type="submit"
        className="prompt-send"
        aria-label={t("sendReply")}
        disabled={text.trim() === "" || room(text).over || busy}
      >
        <ArrowUp size={18} aria-hidden />
      </button>
    </form>
  );
}
