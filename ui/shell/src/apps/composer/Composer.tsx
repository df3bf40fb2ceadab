import { ArrowUp } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Refusal } from "#base/domain/problem.ts";
import { promptKey, room } from "#base/domain/prompt.ts";
import { Button } from "#base/kit/Button.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { openRun } from "../../actions/registry";
import { Sentence } from "../../kit/Sentence";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/late";
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
    <form className="composer" onSubmit={(e) => unawaited(send(e))} aria-label={t("runs.prompt")}>
      <textarea
        id="prompt"
        ref={box}
        rows={1}
        aria-label={steers ? t("runs.addTo") : t("runs.prompt")}
        aria-describedby="prompt-hint"
        placeholder={steers ? t("runs.addPlaceholder") : t("runs.askPlaceholder")}
        value={text}
        onChange={(e) => change(e.target.value)}
        onKeyDown={press}
      />
      <div className="composer-foot">
        {run && <Mode adding={steers} onChange={(adding) => setAddingTo(adding ? run.id : undefined)} />}
        {!steers && <Projects />}
        <span id="prompt-hint" className="composer-hint">
          <Sentence
            of="runs.hint"
            holes={{ enter: <kbd>{t("runs.enter")}</kbd>, shiftEnter: <kbd>{t("runs.shiftEnter")}</kbd> }}
          />
        </span>
        <span className="composer-state" role="status">
          {wait > 0 && t("runs.tryIn", { n: wait })}
          {size.show && (
            <span className={size.over ? "composer-over" : ""}>
              {size.over ? t("runs.tooMany", { n: -size.left }) : t("runs.left", { n: size.left })}
            </span>
          )}
        </span>
        <Button
          type="submit"
          look="primary"
          className="button-icon composer-send"
          aria-label={steers ? t("runs.add") : t("runs.send")}
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
      <legend className="visually-hidden">{t("runs.whatThis")}</legend>
      <button type="button" aria-pressed={!adding} onClick={() => onChange(false)}>
        {t("runs.newRun")}
      </button>
      <button type="button" aria-pressed={adding} onClick={() => onChange(true)}>
        {t("runs.addTo")}
      </button>
    </fieldset>
  );
}
