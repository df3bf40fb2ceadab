import type { ID, Time } from "#base/domain/contracts.ts";
import type { Mark, Run } from "#base/domain/views.ts";
import { count } from "./sentence";
import { whenWords } from "./time";

/**
 * Marks known so far and marks read now, oldest first, each once. What was read
 * now takes the place of all that was known between its ends: a mark of what
 * somebody does in a row moves on with each step. `newest` says that nothing
 * comes after what was read.
 */
export function mergeMarks(known: readonly Mark[], read: readonly Mark[], newest: boolean): Mark[] {
  const seqs = read.map((m) => m.seq);
  const from = Math.min(...seqs);
  const to = newest ? Number.POSITIVE_INFINITY : Math.max(...seqs);
  const others = known.filter((m) => m.seq < from || m.seq > to);
  return [...others, ...read].sort((a, b) => a.seq - b.seq);
}

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
  done: "The run finished",
  failed: "The run failed",
  cancelled: "You stopped the run",
};

/** How the run or the task of a mark ended; undefined for a mark of something else, and for an end this page does not know. */
export function outcomeOf({ kind, text }: Pick<Mark, "kind" | "text">): keyof typeof outcomes | undefined {
  if (kind === "task") return text.startsWith("failed") ? "failed" : "done";
  if (kind !== "answer") return undefined;
  const outcome = text.replace("finished: ", "");
  return Object.hasOwn(outcomes, outcome) ? (outcome as keyof typeof outcomes) : undefined;
}

/** A subject that only says when. */
const plainSubject = /^checkpoint: [\d-]+$/;

/** What happened, in the words of whoever owns the computer; `marks` tell of other moments. */
export function wordsOf(mark: Mark, marks: readonly Mark[], now: number): string {
  const { kind, text, files = 0 } = mark;
  switch (kind) {
    case "prompt":
      return `You asked: ${text}`;
    case "answer": {
      const outcome = outcomeOf(mark);
      return outcome ? outcomes[outcome] : capital(text);
    }
    case "task":
      return outcomeOf(mark) === "failed" ? `Task ${text}` : `Task done: ${text}`;
    case "call":
      return callWords(text, files);
    case "checkpoint":
      return plainSubject.test(text) ? "Checkpoint" : `Checkpoint: ${text}`;
    case "rewind":
      return rewindWords(mark, marks, now);
    case "undo":
      return "You took one step back";
    default:
      return capital(text);
  }
}

// Going back to just before another step back is how that one is undone.
function rewindWords(mark: Mark, marks: readonly Mark[], now: number): string {
  if (mark.source === "system") return "The machine went down; the files are again as the log has them";
  const seq = mark.to_seq ?? 0;
  const place = placeOf(marks, seq);
  const next = marks[place + 1];
  if (next?.seq === seq + 1 && next.seq < mark.seq) {
    if (next.kind === "rewind") return `You undid: ${wordsOf(next, marks, now)}`;
    if (next.kind === "undo") return "You put the step back that you had taken back";
  }
  const then = marks[place];
  return `You went back to ${then ? whenWords(then.at, now) : `event ${seq}`}`;
}

// A tool that names its file changed that; a command may have changed anything.
function callWords(text: string, files: number): string {
  if (text.startsWith("a command ")) return capital(text);
  const space = text.indexOf(" ");
  const [tool, about] = space < 0 ? [text, ""] : [text.slice(0, space), text.slice(space + 1)];
  if (tool.endsWith("_file")) return `${tool} changed ${about}`;
  return `${tool} changed ${count(files, "file")}${about ? `: ${about}` : ""}`;
}

/** How much it changed, in few words; empty for nothing. */
export function changedWords(mark: Mark): string {
  // A project's own words say it.
  return mark.files && mark.kind !== "repo" ? `${count(mark.files, "file")} changed` : "";
}

/** What can be taken back by itself: a task, or one call of a tool. */
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
      const title = prompts.get(mark.run)?.split("\n")[0] ?? "A run";
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

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
