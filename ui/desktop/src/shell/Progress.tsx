import { useEffect } from "react";
import { useSession } from "../app/session";
import { type Progress as Line, STAYS } from "../domain/progress";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { useStore } from "../state/store";

const sayings = {
  said: undefined,
  began: "progressBegan",
  planned: "progressPlanned",
  verified: "progressVerified",
  failed: "progressFailed",
  done: "progressDone",
  cancelled: "progressCancelled",
  asks: "progressAsks",
  proposed: "progressProposed",
} as const;

/** What runs say, above the prompt; lines fade by how important they are. */
export function Progress() {
  const t = useWords(deskWords);
  const lines = useStore((s) => s.progress);
  return (
    <ul className="progress" aria-label={t("progress")} aria-live="polite">
      {lines.map((line) => (
        <ProgressLine key={line.id} line={line} />
      ))}
    </ul>
  );
}

function ProgressLine({ line }: { line: Line }) {
  const t = useWords(deskWords);
  const { windows } = useSession();
  const unsay = useStore((s) => s.unsay);
  useEffect(() => {
    const timer = setTimeout(() => unsay(line.id), STAYS[line.weight]);
    return () => clearTimeout(timer);
  }, [line, unsay]);
  const word = line.kind === "failed" && line.weight === "end" ? "progressRunFailed" : sayings[line.kind];
  return (
    <li className="progress-line" data-weight={line.weight} data-kind={line.kind}>
      <span>{word ? t(word, { text: line.text }) : line.text}</span>
      {line.run && line.weight === "end" && (
        <button
          type="button"
          onClick={() => void windows.openSubject(line.document ? `document:${line.document}` : `run:${line.run}`)}
        >
          {t(line.document ? "lookAtProposal" : "openRun")}
        </button>
      )}
    </li>
  );
}
