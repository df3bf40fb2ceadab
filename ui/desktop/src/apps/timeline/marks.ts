import type { Mark } from "#base/domain/views.ts";

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
