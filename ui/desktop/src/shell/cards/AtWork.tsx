import { Check, Circle, CircleAlert, CircleSlash, LoaderCircle, OctagonX } from "lucide-react";
import { useEffect, useState } from "react";
import type { StepState } from "#base/domain/plan.ts";
import { Button } from "#base/kit/Button.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import type { Card, Now } from "../../domain/card";
import { span } from "../../domain/time";
import { deskWords } from "../../i18n/desk";
import { useWords } from "../../i18n/words";
import { useStore } from "../../state/store";
import { api } from "../../transport/api";

type Said = "nowPlanning" | "cardWaiting" | "nowJudging" | "nowStopping" | "nowPaused";

/** What has no words of its own. */
const kinds: Partial<Record<Now["kind"], Said>> = {
  planning: "nowPlanning",
  waiting: "cardWaiting",
  judging: "nowJudging",
  stopping: "nowStopping",
  paused: "nowPaused",
};

/** The plan with what is done of it, what is being done, and the way to stop it. */
export function AtWork({ card }: { card: Card }) {
  const t = useWords(deskWords);
  const said = card.now && kinds[card.now.kind];
  const stop = () => {
    // The button is gone once the run has ended.
    document.getElementById("prompt")?.focus();
    api.cancel(card.run).catch(notifyProblem);
  };
  return (
    <>
      <Steps card={card} />
      <div className="card-now">
        <p>{said ? t(said) : card.now?.text}</p>
        <Spent card={card} />
        {!card.paced && (
          <Button look="danger" disabled={card.now?.kind === "stopping"} onClick={stop}>
            <OctagonX size={15} aria-hidden /> {t("stop")}
          </Button>
        )}
      </div>
    </>
  );
}

const marks: Record<StepState, [mark: typeof Check, said: keyof (typeof deskWords)["en"]]> = {
  waiting: [Circle, "stepWaiting"],
  working: [LoaderCircle, "stepWorking"],
  judging: [LoaderCircle, "stepWorking"],
  revising: [LoaderCircle, "stepWorking"],
  done: [Check, "stepDone"],
  failed: [CircleAlert, "stepFailed"],
  cancelled: [CircleSlash, "stepCancelled"],
};

/** The steps of the plan, each with how it stands. */
export function Steps({ card }: { card: Card }) {
  const t = useWords(deskWords);
  if (card.steps.length === 0) return null;
  return (
    <ol className="card-steps" aria-label={t("steps")}>
      {card.steps.map(({ step, state }) => {
        const [Mark, said] = marks[state];
        return (
          <li key={step.id} data-state={state}>
            <Mark size={15} aria-hidden /> <span>{step.title}</span>
            <span className="visually-hidden"> ({t(said)})</span>
          </li>
        );
      })}
    </ol>
  );
}

/** How long it took so far, or in all, and what it cost. */
export function Spent({ card }: { card: Card }) {
  const language = useStore((s) => s.language);
  const now = useSeconds(card.finishedAt === undefined);
  const to = card.finishedAt ? Date.parse(card.finishedAt) : now;
  const cost = card.cost.toLocaleString(language, {
    style: "currency",
    currency: "USD",
    maximumFractionDigits: card.cost < 0.1 ? 4 : 2,
  });
  const took = Math.max(0, to - Date.parse(card.startedAt));
  return (
    <span className="card-spent">
      {card.finishedAt || took >= 1000 ? span(card.finishedAt ? took : took - (took % 1000), language) : "0 s"}
      {card.cost > 0 && ` · ${cost}`}
    </span>
  );
}

/** The time, each second while it runs. */
function useSeconds(runs: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!runs) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [runs]);
  return now;
}
