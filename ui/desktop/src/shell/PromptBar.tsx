import { ArrowUp } from "lucide-react";
import { type FormEvent, type KeyboardEvent, type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { Refusal } from "#base/domain/problem.ts";
import { promptKey, room } from "#base/domain/prompt.ts";
import { notifyProblem } from "#base/kit/notify.ts";
import { usePhone } from "#base/kit/useWidth.ts";
import { useSession } from "../app/session";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { hearShell, tellShell } from "../transport/shell";
import { Commands } from "./Commands";
import { useHistory } from "./useHistory";
import { usePasting } from "./usePasting";

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
  useEffect(() => box.current?.focus(), []);

  const change = useCallback((value: string) => {
    setText(value);
    key.current = crypto.randomUUID();
    // Kept by the shell, for the page that may come after this one.
    tellShell({ kind: "draft", text: value });
  }, []);
  useShell(change, box);
  useStrayKeys(box);
  const pasting = usePasting(change);
  const send = async (e?: FormEvent) => {
    e?.preventDefault();
    if (blank || size.over || busy || wait > 0 || commanding) return;
    setBusy(true);
    try {
      await session.prompt(text, key.current);
      history.add(text);
      change("");
    } catch (error) {
      if (error instanceof Refusal && error.retryAfter) setWait(error.retryAfter);
      notifyProblem(error);
    } finally {
      setBusy(false);
      box.current?.focus();
    }
  };
  const press = (e: KeyboardEvent<HTMLTextAreaElement>) => {
    const recalled = history.press(e, text);
    if (recalled !== undefined) return change(recalled);
    const means = promptKey({ key: e.key, shiftKey: e.shiftKey, isComposing: e.nativeEvent.isComposing });
    if (means === "type") return;
    e.preventDefault();
    if (means === "clear") change("");
    else void send();
  };
  return (
    <form
      className="prompt"
      onSubmit={send}
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

/** The shell hands over what was typed before, and says when the keys are ours. */
function useShell(change: (text: string) => void, box: RefObject<HTMLTextAreaElement | null>): void {
  useEffect(() => {
    const end = hearShell((message) => {
      if (message.kind === "draft") change(message.text);
      else if (document.activeElement === document.body) box.current?.focus();
    });
    tellShell({ kind: "ready" });
    return end;
  }, [change, box]);
}

/**
 * What is typed while nothing has the keys goes to the prompt. WebKit lets a
 * frame of another origin have the focus only once a key was pressed in it.
 */
function useStrayKeys(box: RefObject<HTMLTextAreaElement | null>): void {
  useEffect(() => {
    const pressed = (e: globalThis.KeyboardEvent) => {
      const types = e.key.length === 1 && !e.ctrlKey && !e.altKey && !e.metaKey;
      if (types && document.activeElement === document.body) box.current?.focus();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [box]);
}
