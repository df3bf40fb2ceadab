import { ArrowUp } from "lucide-react";
import {
  type FormEvent,
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { Refusal } from "#base/domain/problem.ts";
import { promptKey, room } from "#base/domain/prompt.ts";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { usePhone } from "#base/kit/useWidth.ts";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { focusedFrame, SKIP, toContent } from "../kit/keyboard";
import { useSession } from "../session/session";
import { useStore } from "../state/store";
import { past } from "../transport/address";
import { hearShell, tellShell } from "../transport/shell";
import { Commands } from "./Commands";
import { Project } from "./Project";
import { useHistory } from "./useHistory";
import { usePasting } from "./usePasting";
import { useWordsPut } from "./useWordsPut";

/** The prompt: it begins runs, and with ? commands the desktop. */
export function PromptBar() {
  const session = useSession();
  const t = useWords(deskWords);
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [wait, setWait] = useWait();
  // One key for one text: sending it twice begins one run.
  const key = useRef(crypto.randomUUID());
  const box = useRef<HTMLTextAreaElement>(null);
  const history = useHistory();
  const phone = usePhone();
  const blank = text.trim() === "";
  const size = room(text);
  const commanding = text.startsWith("?");
  // Before other effects, which fetch what is shown later: the prompt takes keys first.
  useLayoutEffect(() => {
    const open = session.windows.focused();
    if (open) useStore.getState().want(open.id);
    else box.current?.focus();
  }, [session]);

  const change = useCallback(
    (value: string) => {
      setText(value);
      key.current = crypto.randomUUID();
      // Kept by the shell, for the page that may come after this one.
      tellShell({ kind: "draft", text: value });
      // And by the server, for a page that comes without it.
      if (value && !value.startsWith("?")) session.drafts.keep("prompt", "", { text: value, base: "" });
      else session.drafts.drop("prompt", "");
    },
    [session],
  );
  useEffect(() => {
    if (past) return;
    const { read, unwatch } = session.drafts.watch("prompt", "");
    read.then(
      (typed) => typed && setText((now) => now || typed.text),
      () => undefined,
    );
    return unwatch;
  }, [session]);
  useEffect(() => useStore.getState().setTyped(text), [text]);
  useShell(change, box);
  useWordsPut(text, change, box);
  const pasting = usePasting(change);
  const send = async (e?: FormEvent) => {
    e?.preventDefault();
    if (blank || size.over || busy || wait > 0 || commanding) return;
    setBusy(true);
    try {
      await session.promptTyped(text, key.current, () => {
        history.add(text);
        change("");
      });
    } catch (error) {
      if (error instanceof Refusal && error.retryAfter) setWait(error.retryAfter);
      notifyProblem(error);
    } finally {
      setBusy(false);
      // Whoever went on elsewhere meanwhile stays there.
      if (!session.windows.focused() || box.current?.form?.contains(document.activeElement)) box.current?.focus();
    }
  };
  const press = (e: KeyboardEvent<HTMLTextAreaElement>) => {
    const recalled = history.press(e, text);
    if (recalled !== undefined) return change(recalled);
    const means = promptKey({ key: e.key, shiftKey: e.shiftKey, isComposing: e.nativeEvent.isComposing });
    if (means === "type") return;
    e.preventDefault();
    if (means === "clear") change("");
    else unawaited(send());
  };
  return (
    <form
      className="prompt"
      onSubmit={(e) => unawaited(send(e))}
      onDragOver={pasting.onDragOver}
      onDrop={pasting.onDrop}
      aria-label={t("prompt")}
    >
      {commanding && <Commands typed={text.slice(1)} input={box} onDone={() => change("")} />}
      {pasting.offer}
      <textarea
        id="prompt"
        ref={box}
        rows={1}
        aria-label={t("prompt")}
        placeholder={t(phone ? "promptShort" : "promptPlaceholder")}
        value={text}
        onChange={(e) => change(e.target.value)}
        onKeyDown={press}
        onPaste={pasting.onPaste}
      />
      <Project />
      <span className="prompt-state" role="status">
        {wait > 0 && t("tryAgainIn", { n: wait })}
        {size.show && (
          <span data-over={size.over}>{t(size.over ? "tooMany" : "left", { n: Math.abs(size.left) })}</span>
        )}
      </span>
      <button
        type="submit"
        className="prompt-send"
        aria-label={t("send")}
        disabled={blank || size.over || busy || wait > 0 || commanding}
      >
        <ArrowUp size={18} aria-hidden />
      </button>
    </form>
  );
}

/** Whole seconds until sending is allowed again, counting down. */
function useWait(): [number, (seconds: number) => void] {
  const [wait, setWait] = useState(0);
  useEffect(() => {
    if (wait <= 0) return;
    const timer = setTimeout(() => setWait(wait - 1), 1000);
    return () => clearTimeout(timer);
  }, [wait]);
  return [wait, setWait];
}

/** The mark on the page's own clock, for whoever measures what the page needs until then. */
const PROMPT_READY = "prompt-ready";

/** The shell hands over what was typed before, and says when the keys are ours. */
function useShell(change: (text: string) => void, box: RefObject<HTMLTextAreaElement | null>): void {
  useLayoutEffect(() => {
    const stopHearing = hearShell((message) => {
      if (message.kind === "draft") change(message.text);
      else if (message.kind === "launcher") useStore.getState().setPanel("launcher");
      else if (document.activeElement !== document.body && document.activeElement?.id !== SKIP) return;
      else if (focusedFrame()) toContent();
      else box.current?.focus();
    });
    performance.mark(PROMPT_READY);
    tellShell({ kind: "ready", launcher: true });
    return stopHearing;
  }, [change, box]);
}
