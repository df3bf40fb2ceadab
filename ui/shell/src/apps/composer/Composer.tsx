import { ArrowUp } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Refusal } from "#base/domain/problem.ts";
import { promptKey, room } from "#base/domain/prompt.ts";
import { Button } from "#base/kit/Button.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { openRun } from "../../actions/registry";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { Projects } from "./Projects";
import "./composer.css";

/** The prompt bar: begins a run, or adds to the one that is shown. */
export function Composer() {
  const session = useSession();
  const run = useStore(openRun);
  const [text, setText] = useState("");
  // Tied to one run, so that Enter never means another thing on the next.
  const [addingTo, setAddingTo] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [wait, setWait] = useWait();
  // One key for one text: sending it twice begins one run.
  const key = useRef(crypto.randomUUID());
  const box = useRef<HTMLTextAreaElement>(null);
  const steers = run !== undefined && run.id === addingTo;
  const size = room(text);
  const blank = text.trim() === "";
  useEffect(() => box.current?.focus(), []);

  const change = (value: string) => {
    setText(value);
    key.current = crypto.randomUUID();
  };
  const send = async (e?: FormEvent) => {
    e?.preventDefault();
    if (blank || size.over || busy || wait > 0) return;
    setBusy(true);
    try {
      await (steers ? session.api.steer(run.id, text) : session.prompt(text, key.current));
      change("");
    } catch (error) {
      if (error instanceof Refusal && error.retryAfter) setWait(error.retryAfter);
      notifyProblem(error);
    } finally {
      setBusy(false);
      box.current?.focus();
    }
  };
  const press = (e: KeyboardEvent) => {
    const means = promptKey({ key: e.key, shiftKey: e.shiftKey, isComposing: e.nativeEvent.isComposing });
    if (means === "type") return;
    e.preventDefault();
    if (means === "clear") change("");
    else unawaited(send());
  };
  return (
    <form className="composer" onSubmit={(e) => unawaited(send(e))} aria-label="Prompt">
      <textarea
        id="prompt"
        ref={box}
        rows={1}
        aria-label={steers ? "Add to this run" : "Prompt"}
        aria-describedby="prompt-hint"
        placeholder={steers ? "Add something while it works…" : "Ask for something…"}
        value={text}
        onChange={(e) => change(e.target.value)}
        onKeyDown={press}
      />
      <div className="composer-foot">
        {run && <Mode adding={steers} onChange={(adding) => setAddingTo(adding ? run.id : undefined)} />}
        {!steers && <Projects />}
        <span id="prompt-hint" className="composer-hint">
          <kbd>Enter</kbd> sends · <kbd>Shift Enter</kbd> new line
        </span>
        <span className="composer-state" role="status">
          {wait > 0 && `Try again in ${wait} s`}
          {size.show && (
            <span className={size.over ? "composer-over" : ""}>
              {size.over ? `${-size.left} too many` : `${size.left.toLocaleString("en")} left`}
            </span>
          )}
        </span>
        <Button
          type="submit"
          look="primary"
          className="button-icon composer-send"
          aria-label={steers ? "Add" : "Send"}
          disabled={blank || size.over || busy || wait > 0}
        >
          <ArrowUp size={18} aria-hidden />
        </Button>
      </div>
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

function Mode({ adding, onChange }: { adding: boolean; onChange(adding: boolean): void }) {
  return (
    <fieldset className="composer-mode">
      <legend className="visually-hidden">What this is</legend>
      <button type="button" aria-pressed={!adding} onClick={() => onChange(false)}>
        New run
      </button>
      <button type="button" aria-pressed={adding} onClick={() => onChange(true)}>
        Add to this run
      </button>
    </fieldset>
  );
}
