import type { ID, Time } from "#base/domain/contracts.ts";
import { markSaid } from "#base/domain/marksaid.ts";
import type { Mark, Run } from "#base/domain/views.ts";
import { t } from "../words/late";
import { whenWords } from "./time";

/** The place of the mark at or before an event; -1 when all are after it. */
export function placeOf(marks: readonly Mark[], seq: number): number {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle]?.seq ?? 0) <= seq) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

const outcomes = {
  runDone: "done",
  runFailed: "failed",
  runFailedSaid: "failed",
  runStopped: "cancelled",
  taskDone: "done",
  taskFailed: "failed",
} as const;

/** How a run or a task ended. */
export type MarkOutcome = (typeof outcomes)[keyof typeof outcomes];

/** How the run or the task of a mark ended; undefined for a mark of something else, and for an end this page does not know. */
export function outcomeOf({ told: { sentence } }: Pick<Mark, "told">): MarkOutcome | undefined {
  return Object.hasOwn(outcomes, sentence) ? outcomes[sentence as keyof typeof outcomes] : undefined;
}

/** What happened, in the words of whoever owns the computer; `marks` tell of other moments. */
export function wordsOf(mark: Mark, marks: readonly Mark[], now: number): string {
  return mark.told.sentence === "wentBack" ? rewindWords(mark, marks, now) : markSaid(mark);
}

// Going back to just before another step back is how that one is undone.
function rewindWords(mark: Mark, marks: readonly Mark[], now: number): string {
  const seq = mark.to_seq ?? 0;
  const place = placeOf(marks, seq);
  const next = marks[place + 1];
  if (next?.seq === seq + 1 && next.seq < mark.seq) {
    if (next.kind === "rewind") return t("time.undid", { what: wordsOf(next, marks, now) });
    if (next.kind === "undo") return t("time.putBack");
  }
  const then = marks[place];
  return then ? t("step.wentBack", { when: whenWords(then.at, now) }) : t("time.wentBackToEvent", { seq: String(seq) });
}

/** How much it changed, in few words; empty for nothing. */
export function changedWords(mark: Mark): string {
  // A project's own words say it.
  return mark.files && mark.kind !== "repo" ? t("page.filesChanged", { n: mark.files }) : "";
}

/** What can be undone by itself: a task, or one call of a tool. */
export function undoable(mark: Mark): ID | undefined {
  if (mark.kind === "call") return mark.call;
  return mark.kind === "task" && mark.files ? mark.task : undefined;
}

/** A line of the list: the head of a group of marks of one run, or a mark. */
export type Row =
  | { is: "head"; key: string; run: ID; title: string }
  | { is: "mark"; key: string; mark: Mark; inRun: boolean };

/** The list, newest first: what one run did stands under its prompt. */
export function rowsOf(marks: readonly Mark[], runs: readonly Pick<Run, "id" | "prompt">[]): Row[] {
  const prompts = new Map(runs.map((r) => [r.id, r.prompt]));
  const rows: Row[] = [];
  let group: ID | undefined;
  for (let i = marks.length - 1; i >= 0; i--) {
    const mark = marks[i] as Mark;
    if (mark.run && mark.run !== group) {
      const title = prompts.get(mark.run)?.split("\n")[0] ?? t("time.aRun");
      rows.push({ is: "head", key: `run ${mark.seq}`, run: mark.run, title });
    }
    group = mark.run;
    rows.push({ is: "mark", key: String(mark.seq), mark, inRun: mark.run !== undefined });
  }
  return rows;
}

/**
 * Where PageUp (`by` 1, later) and PageDown (-1) lead from place `at`: to where
 * the next run, or what stands alone, begins. Place `marks.length` is now.
 */
export function leap(marks: readonly Mark[], at: number, by: 1 | -1): number {
  const begins = (i: number) => i === 0 || !marks[i]?.run || marks[i]?.run !== marks[i - 1]?.run;
  let i = at + by;
  while (i > 0 && i < marks.length && !begins(i)) i += by;
  return Math.max(0, Math.min(marks.length, i));
}

/** The runs that had begun, as they stood then; newest first. */
export function runsThen(runs: readonly Run[], seq: number, at: Time): { run: Run; state: Run["state"] }[] {
  return runs
    .filter((r) => r.first_seq <= seq)
    .map((run) => ({ run, state: run.finished_at && run.finished_at <= at ? run.state : "running" }));
}
