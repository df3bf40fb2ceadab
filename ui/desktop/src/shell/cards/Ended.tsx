import { FileText, History, MessageSquareDiff, Route, Undo2 } from "lucide-react";
import type { Code, Time } from "#base/domain/contracts.ts";
import { Button } from "#base/kit/Button.tsx";
import { Markdown } from "#base/kit/Markdown.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import type { Card } from "../../domain/card";
import { clock } from "../../domain/time";
import { deskWords } from "../../i18n/desk";
import { useWords } from "../../i18n/words";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { type Page, tellShell } from "../../transport/shell";
import { Spent, Steps } from "./AtWork";
import { ChangedFiles } from "./ChangedFiles";
import { Reply } from "./Reply";

/** How a run ended: its answer, what it changed, and what can be done next. */
export function Ended({ card }: { card: Card }) {
  const t = useWords(deskWords);
  const { windows } = useSession();
  const undo = () => tellShell({ kind: "open", page: "undo", run: card.run });
  const { document, made, proposedOver } = card;
  const open = (subject: string) => unawaited(windows.openSubject(subject));
  return (
    <>
      {card.state === "failed" && <Steps card={card} />}
      {card.status && <p className="card-status">{t(card.status === "partly" ? "cardPartly" : "cardNotDone")}</p>}
      <div className="card-answer">
        {card.answer ? <Markdown text={card.answer} onPath={open} /> : <p>{t("noAnswer")}</p>}
      </div>
      {card.said && (
        <figure className="card-said">
          <figcaption>{t("modelSaid")}</figcaption>
          <blockquote>{card.said}</blockquote>
        </figure>
      )}
      {card.state === "failed" && <WhatToDo card={card} />}
      {card.undone && <Undone {...card.undone} />}
      {card.files.length > 0 && <ChangedFiles files={card.files} />}
      <div className="card-acts">
        {proposedOver && (
          <Button look="primary" onClick={() => open(`document:${proposedOver}`)}>
            <MessageSquareDiff size={15} aria-hidden /> {t("lookAtProposal")}
          </Button>
        )}
        {made && (
          <Button look="primary" onClick={() => open(made)}>
            <FileText size={15} aria-hidden /> {t("openMade")}
          </Button>
        )}
        {document && (
          <Button {...(made ? { look: "quiet" } : {})} onClick={() => open(`document:${document}`)}>
            <FileText size={15} aria-hidden /> {t(made ? "openRecord" : "openDocument")}
          </Button>
        )}
        {card.files.length > 0 && !card.undone && (
          <Button onClick={undo}>
            <Undo2 size={15} aria-hidden /> {t("undoThis")}
          </Button>
        )}
        <Button look="quiet" onClick={() => unawaited(windows.openSubject(`run:${card.run}`))}>
          <Route size={15} aria-hidden /> {t("openTrace")}
        </Button>
        {card.files.length > 0 && (
          <Button look="quiet" onClick={() => tellShell({ kind: "open", page: "timeline", seq: card.before })}>
            <History size={15} aria-hidden /> {t("asItWasBefore")}
          </Button>
        )}
        <Spent card={card} />
      </div>
      <Reply card={card} />
    </>
  );
}

/** Says that the owner took back what the run changed, and leads to that moment. */
function Undone({ seq, at }: { seq: number; at: Time }) {
  const t = useWords(deskWords);
  const language = useStore((s) => s.language);
  return (
    <p className="card-undone">
      <Undo2 size={15} aria-hidden />{" "}
      <time dateTime={at}>{t("undoneAt", { time: clock(at, Date.now(), language) })}</time>
      <button type="button" className="card-link" onClick={() => tellShell({ kind: "open", page: "timeline", seq })}>
        {t("onTheTimeline")}
      </button>
    </p>
  );
}

/** The page of the shell on which the cause of a failure can be mended. */
const mended: Partial<Record<Code, [page: Page, said: "toModels" | "toLimits"]>> = {
  unavailable: ["models", "toModels"],
  unauthenticated: ["models", "toModels"],
  provider_error: ["models", "toModels"],
  budget: ["limits", "toLimits"],
};

function WhatToDo({ card }: { card: Card }) {
  const t = useWords(deskWords);
  const putWords = useStore((s) => s.putWords);
  const there = useStore((s) => s.typed.trim() === card.prompt.trim());
  const [page, said] = (card.code && mended[card.code]) ?? [];
  return (
    <div className="card-acts">
      {page && said && <Button onClick={() => tellShell({ kind: "open", page })}>{t(said)}</Button>}
      {!there && (
        <Button onClick={() => putWords({ text: card.prompt, repo: card.repo ?? "", over: true })}>
          {t("writeAgain")}
        </Button>
      )}
    </div>
  );
}
