import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { Button } from "#base/kit/Button.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { choosePhrase } from "../../transport/settings";
import { t } from "../../words/late";

/** The maximum length of a phrase, which the server holds too. */
const MOST = 60;

/** The phrase that the owner chose, which no page of an agent can show, or the form to choose one. */
export function Phrase({ phrase }: { phrase: string }) {
  const [choosing, setChoosing] = useState(false);
  const line = useRef<HTMLParagraphElement>(null);
  const chose = useRef(false);
  useEffect(() => {
    if (chose.current && !choosing) line.current?.querySelector("button")?.focus();
    chose.current = choosing;
  }, [choosing]);
  if (choosing) return <Choice phrase={phrase} onEnd={() => setChoosing(false)} />;
  return (
    <p className="settings-phrase" ref={line}>
      {phrase ? (
        <span>
          {t("phrase.yours")} <b>{phrase}</b>
        </span>
      ) : (
        <span>{t("phrase.none")}</span>
      )}
      <Button onClick={() => setChoosing(true)}>{t(phrase ? "phrase.change" : "phrase.choose")}</Button>
    </p>
  );
}

/** The form in which a phrase is typed. */
function Choice({ phrase, onEnd }: { phrase: string; onEnd(): void }) {
  const queries = useQueryClient();
  const field = useId();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const [text, setText] = useState(phrase);
  const [busy, setBusy] = useState(false);
  const save = (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    unawaited(
      choosePhrase(text.trim())
        .then((next) => {
          queries.setQueryData(["settings"], next);
          onEnd();
        }, notifyProblem)
        .finally(() => setBusy(false)),
    );
  };
  return (
    <form className="settings-phrase" onSubmit={save}>
      <label htmlFor={field}>{t("phrase.about")}</label>
      <input
        ref={input}
        id={field}
        value={text}
        maxLength={MOST}
        autoComplete="off"
        onChange={(e) => setText(e.target.value)}
      />
      <Button look="primary" type="submit" disabled={busy}>
        {t("phrase.save")}
      </Button>
      <Button onClick={onEnd}>{t("phrase.cancel")}</Button>
    </form>
  );
}
