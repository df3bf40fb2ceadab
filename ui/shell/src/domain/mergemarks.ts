import type { Mark } from "#base/domain/views.ts";

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
