import type { FileState } from "../domain/contracts";
import type { Moment, MomentsView, TimelinePage } from "../domain/views";
import { base } from "./address";
import { ask, list, send } from "./http";

const at = (seq: number, what: "folder" | "file", path: string) =>
  `${base}/at/${seq}/${what}?path=${encodeURIComponent(path)}`;

/** Looks at the past; nothing here changes anything. */
export const moments = {
  /** Marks before an event, the newest first; 0 is now. */
  marks: (before: number, limit: number, signal: AbortSignal) =>
    ask<TimelinePage>(`${base}/timeline?limit=${limit}&before=${before}`, { signal }),
  show: (seq: number, signal: AbortSignal) => ask<Moment>(`${base}/at/${seq}`, { signal }),
  /** How the computer differs now from what it was after an event. */
  since: (seq: number, signal: AbortSignal) => ask<MomentsView>(`${base}/diff?from=${seq}`, { signal }),
  folder: (seq: number, path: string, signal: AbortSignal) => list<FileState>(at(seq, "folder", path), signal),
  fileAddress: (seq: number, path: string) => at(seq, "file", path),
  file: async (seq: number, path: string, signal: AbortSignal) =>
    (await send(at(seq, "file", path), { signal })).arrayBuffer(),
};
