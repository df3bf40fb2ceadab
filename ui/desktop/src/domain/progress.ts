import type { Event, ID } from "#base/domain/contracts.ts";

/** One line of a run's progress, above the prompt bar. */
export interface Progress {
  id: ID;
  run: ID | undefined;
  /** What the run said; without it the kind says it. */
  text: string;
  kind: "said" | "began" | "planned" | "verified" | "failed" | "done" | "cancelled" | "asks" | "proposed";
  /** The document over which something is proposed. */
  document?: ID;
  weight: Weight;
}

/** How important a line is: the lighter, the sooner it fades. */
export type Weight = "passing" | "step" | "end";

/** Milliseconds a line of a weight stays. */
export const STAYS: Record<Weight, number> = { passing: 4_000, step: 8_000, end: 20_000 };

/** The line an event is worth; undefined for most. */
export function progressOf(event: Event): Progress | undefined {
  const line = (kind: Progress["kind"], weight: Weight, text = ""): Progress => ({
    id: event.id,
    run: event.run,
    kind,
    weight,
    text: clip(text),
  });
  switch (event.type) {
    case "plan.made":
      return line("planned", "step", event.payload.goal);
    case "task.dispatched":
      return line("began", "step", event.payload.task.instruction);
    case "task.progressed":
      return line("said", "passing", event.payload.text);
    case "task.returned":
      return event.payload.result.status === "ok"
        ? line("verified", "step", event.payload.result.summary)
        : line("failed", "step", event.payload.result.summary);
    case "question.asked":
      return line("asks", "end", event.payload.question.text);
    case "overlay.added":
      return event.source === "director" && event.payload.kind === "proposal"
        ? { ...line("proposed", "end", event.payload.text), document: event.payload.document }
        : undefined;
    case "run.finished":
      return line(event.payload.outcome, "end", event.payload.answer ?? "");
    default:
      return undefined;
  }
}

/** At most so many lines at once. */
const LINES = 4;

/** The lines after one more; what a run proposed is not said a second time as its answer. */
export function withLine(lines: readonly Progress[], line: Progress): readonly Progress[] {
  if (line.kind === "done" && lines.some((l) => l.kind === "proposed" && l.run === line.run)) return lines;
  return [...lines.filter((l) => l.id !== line.id), line].slice(-LINES);
}

function clip(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 140 ? `${line.slice(0, 139)}…` : line;
}
