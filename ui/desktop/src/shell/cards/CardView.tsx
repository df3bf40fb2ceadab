import {
  ChevronDown,
  ChevronUp,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CircleSlash,
  LoaderCircle,
  Undo2,
  X,
} from "lucide-react";
import { type KeyboardEvent, useEffect, useId } from "react";
import { tell } from "#base/domain/basewords.ts";
import { isOpen } from "#base/domain/views.ts";
import { notifyProblem } from "#base/kit/notify.ts";
import { type Card, type CardState, gist, oneLine, stateOf } from "../../domain/card";
import { deskWords } from "../../i18n/desk";
import { useWords } from "../../i18n/words";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { Asks } from "./Asks";
import { AtWork } from "./AtWork";
import { DemoActs } from "./DemoActs";
import { Ended } from "./Ended";

const marks: Record<CardState, typeof X> = {
  planning: LoaderCircle,
  running: LoaderCircle,
  waiting: CircleHelp,
  done: CircleCheck,
  partly: CircleDashed,
  not_done: CircleSlash,
  failed: CircleAlert,
  cancelled: CircleSlash,
  undone: Undo2,
};

const states = {
  planning: "cardPlanning",
  running: "cardRunning",
  waiting: "cardWaiting",
  done: "cardDone",
  partly: "cardPartly",
  not_done: "cardNotDone",
  failed: "cardFailed",
  cancelled: "cardCancelled",
  undone: "undone",
} as const;

/** One run: a line, or all there is to know and to do about it. */
export function CardView({ card, unfolded }: { card: Card; unfolded: boolean }) {
  const t = useWords(deskWords);
  const session = useSession();
  const unfold = useStore((s) => s.unfold);
  const body = useId();
  const open = isOpen(card.state);
  const state = stateOf(card);
  const Mark = marks[state];
  // biome-ignore lint/correctness/useExhaustiveDependencies: what could not be read is read when somebody wants to see it
  useEffect(() => {
    if (!card.whole) session.readStory(card.run);
  }, [card.whole, card.run, session, unfolded]);
  const close = () => {
    // The button goes away with the card.
    document.getElementById("prompt")?.focus();
    session.dismiss(card.run).catch(notifyProblem);
  };
  const press = (e: KeyboardEvent) => {
    if (e.key !== "Escape" || !unfolded || e.defaultPrevented) return;
    unfold(card.run, false);
    document.getElementById("prompt")?.focus();
  };
  return (
    <article
      className="card"
      data-run={card.run}
      data-state={state}
      data-unfolded={unfolded}
      aria-label={oneLine(card.prompt, 80)}
      onKeyDown={press}
    >
      <header className="card-head">
        <button
          type="button"
          className="card-fold"
          aria-expanded={unfolded}
          aria-controls={body}
          onClick={() => unfold(card.run, !unfolded)}
        >
          <Mark className="card-mark" size={17} aria-hidden />
          <span className="visually-hidden">{t(states[state])}: </span>
          <span className="card-prompt">{unfolded ? card.prompt : oneLine(card.prompt)}</span>
          {!unfolded && isMarked(state) && <span className="card-undone">{t(states[state])}</span>}
          {!unfolded && <span className="card-gist">{gistOf(card)}</span>}
          {unfolded ? <ChevronDown size={16} aria-hidden /> : <ChevronUp size={16} aria-hidden />}
        </button>
        {card.paced && <DemoActs card={card} />}
        {!open && !card.paced && (
          <button
            type="button"
            className="card-close"
            aria-label={t("closeCard")}
            title={t("closeCard")}
            onClick={close}
          >
            <X size={16} aria-hidden />
          </button>
        )}
      </header>
      {card.paced && open && <p className="card-notice">{tell("demoNotice")}</p>}
      {unfolded && (
        <div className="card-body" id={body}>
          {open && <AtWork card={card} />}
          {card.question && <Asks key={card.question.id} run={card.run} question={card.question} />}
          {!open && <Ended card={card} />}
        </div>
      )}
    </article>
  );
}

/** Whether a folded card says in words how its run ended. */
function isMarked(state: CardState): boolean {
  return state === "undone" || state === "partly" || state === "not_done";
}

/** What a line says besides the prompt. */
function gistOf(card: Card): string {
  if (card.question) return oneLine(card.question.text);
  return isOpen(card.state) ? oneLine(card.now?.text ?? "") : gist(card.answer);
}
