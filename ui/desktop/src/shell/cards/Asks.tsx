import { type FormEvent, useState } from "react";
import type { ID, Question } from "#base/domain/contracts.ts";
import { Button } from "#base/kit/Button.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { deskWords } from "../../i18n/desk";
import { useWords } from "../../i18n/words";
import { useTyped } from "../../session/useTyped";
import { api } from "../../transport/api";

/** A question that the run waits for, with its choices. */
export function Asks({ run, question }: { run: ID; question: Question }) {
  const t = useWords(deskWords);
  const typed = useTyped("answer", `${run} ${question.id}`);
  const { text } = typed;
  const [sent, setSent] = useState(false);
  const answer = async (words: string) => {
    if (words.trim() === "" || sent) return;
    setSent(true);
    try {
      await typed.send(() => api.answer(run, question.id, words));
      document.getElementById("prompt")?.focus();
    } catch (error) {
      setSent(false);
      notifyProblem(error);
    }
  };
  return (
    <section className="card-asks" aria-label={t("question")}>
      <h2 className="card-title">{question.text}</h2>
      {question.choices && (
        <div className="card-acts">
          {question.choices.map((choice) => (
            <Button key={choice} disabled={sent} onClick={() => unawaited(answer(choice))}>
              {choice}
            </Button>
          ))}
        </div>
      )}
      <form
        className="card-reply"
        onSubmit={(e: FormEvent) => {
          e.preventDefault();
          unawaited(answer(text));
        }}
      >
        <input
          aria-label={t("yourAnswer")}
          placeholder={t(question.choices ? "answerOtherwise" : "yourAnswer")}
          value={text}
          disabled={sent}
          onChange={(e) => typed.change(e.target.value)}
        />
        <Button type="submit" look="primary" disabled={sent || text.trim() === ""}>
          {t("answer")}
        </Button>
      </form>
    </section>
  );
}
