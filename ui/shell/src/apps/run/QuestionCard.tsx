import { CircleHelp } from "lucide-react";
import { type FormEvent, useState } from "react";
import type { ID, Question } from "#base/domain/contracts.ts";
import { Button } from "#base/kit/Button.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { useSession } from "../../session/session";
import { t } from "../../words/late";

/** A question the run waits for. */
export function QuestionCard({ run, question }: { run: ID; question: Question }) {
  const session = useSession();
  const [text, setText] = useState("");
  const [sent, setSent] = useState(false);
  const answer = async (words: string) => {
    if (words.trim() === "") return;
    setSent(true);
    try {
      await session.api.answer(run, question.id, words);
    } catch (error) {
      setSent(false);
      notifyProblem(error);
    }
  };
  const submit = (e: FormEvent) => {
    e.preventDefault();
    unawaited(answer(text));
  };
  return (
    <section className="question" aria-label={t("runs.question")}>
      <h2>
        <CircleHelp size={17} aria-hidden /> {question.text}
      </h2>
      {question.choices && (
        <div className="question-choices">
          {question.choices.map((choice) => (
            <Button key={choice} disabled={sent} onClick={() => unawaited(answer(choice))}>
              {choice}
            </Button>
          ))}
        </div>
      )}
      <form className="question-form" onSubmit={submit}>
        <input
          aria-label={t("runs.yourAnswer")}
          placeholder={question.choices ? t("runs.ownWords") : t("runs.yourAnswer")}
          value={text}
          disabled={sent}
          onChange={(e) => setText(e.target.value)}
        />
        <Button type="submit" look="primary" disabled={sent || text.trim() === ""}>
          {t("runs.answer")}
        </Button>
      </form>
    </section>
  );
}
