/** What was asked before, the oldest first, and which of it is shown. */
export interface Recall {
  /** Place of the entry that is shown; undefined for the draft. */
  at: number | undefined;
  /** What was being written. */
  draft: string;
}

/** Goes up or down through what was asked; undefined where there is nothing more. */
export function recall(
  entries: readonly string[],
  now: Recall,
  text: string,
  way: "up" | "down",
): { recall: Recall; text: string } | undefined {
  const draft = now.at === undefined ? text : now.draft;
  const at = (now.at ?? entries.length) + (way === "up" ? -1 : 1);
  if (at < 0 || at > entries.length || entries.length === 0) return undefined;
  if (at === entries.length)
    return now.at === undefined ? undefined : { recall: { at: undefined, draft: "" }, text: draft };
  return { recall: { at, draft }, text: entries[at] ?? "" };
}

/** The arrow means the history, not the line above or below the cursor. */
export function atEdge(text: string, cursor: number, way: "up" | "down"): boolean {
  return way === "up" ? !text.slice(0, cursor).includes("\n") : !text.slice(cursor).includes("\n");
}
