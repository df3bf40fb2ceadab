import type { Mark } from "#base/domain/views.ts";
import type { Say } from "../../i18n/words";
import type { words } from "./i18n";

type Speak = Say<keyof (typeof words)["en"] & string>;

/** Pages of marks, each newest first, as one list from the oldest on, each mark once. */
export function inOrder(pages: readonly { marks: readonly Mark[] }[]): Mark[] {
  const bySeq = new Map<number, Mark>();
  // The first page is the newest answer.
  for (const page of [...pages].reverse()) for (const mark of page.marks) bySeq.set(mark.seq, mark);
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
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

const outcomes = { done: "runDone", failed: "runFailed", cancelled: "runStopped" } as const;

/** A subject that only says when. */
const plainSubject = /^checkpoint: [\d-]+$/;

/** What the log's own sentences begin with, and the text that says the same. */
const beginnings = [
  ["you changed ", "youChanged"],
  ["you opened ", "youOpened"],
  ["the run opened ", "runOpened"],
  ["you closed ", "youClosed"],
  ["you moved ", "youMoved"],
  ["you minimised ", "youMinimised"],
  ["you maximised ", "youMaximised"],
  ["you snapped ", "youSnapped"],
  ["you restored ", "youRestored"],
  ["you arranged ", "youArranged"],
  ["you began ", "youBegan"],
  ["you wrote ", "youWrote"],
  ["you renamed ", "youRenamed"],
  ["you removed ", "youRemoved"],
  ["changed outside of any task: ", "outside"],
  ["a command of the task changed ", "command"],
  ["failed and taken back: ", "taskFailed"],
] as const;

/** What happened, in the words of whoever owns the computer. */
export function wordsOf({ kind, source, text, files = 0 }: Mark, t: Speak): string {
  switch (kind) {
    case "prompt":
      return t("asked", { text });
    case "answer": {
      const how = text.replace("finished: ", "");
      return Object.hasOwn(outcomes, how) ? t(outcomes[how as keyof typeof outcomes]) : capital(text);
    }
    case "task":
      return begun(text, t) ?? t("taskDone", { text });
    case "call":
      return begun(text, t) ?? callWords(text, files, t);
    case "checkpoint":
      return plainSubject.test(text) ? t("checkpoint") : t("checkpointOf", { text });
    case "rewind":
      return t(source === "system" ? "restored" : "wentBack");
    case "undo":
      return t("tookBack");
    default:
      return begun(text, t) ?? capital(text);
  }
}

function begun(text: string, t: Speak): string | undefined {
  const known = beginnings.find(([begins]) => text.startsWith(begins));
  return known && t(known[1], { text: text.slice(known[0].length) });
}

// A tool that names its file changed that; a command may have changed anything.
function callWords(text: string, files: number, t: Speak): string {
  const [tool = "", ...rest] = text.split(" ");
  const about = rest.join(" ");
  if (tool.endsWith("_file")) return t("callFile", { tool, path: about });
  return t("call", { tool, n: files }) + (about ? `: ${about}` : "");
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
