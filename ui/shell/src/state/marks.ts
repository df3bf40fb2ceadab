import type { StateCreator } from "zustand";
import type { Mark } from "#base/domain/views.ts";
import { mergeMarks } from "../domain/mergemarks";

/** The timeline as far as it is here. */
export interface MarksSlice {
  /** Oldest first, the newest included. */
  marks: readonly Mark[];
  /** The newest event when the marks were last read; 0 before. */
  marksHead: number;
  /** There are earlier marks on the server. */
  marksMore: boolean;
  /** Adds marks; `more` says whether there are earlier ones than all that are here, `newest` that these are the last. */
  addMarks(read: readonly Mark[], head: number, more: boolean, newest: boolean): void;
}

export const marksSlice: StateCreator<MarksSlice> = (set) => ({
  marks: [],
  marksHead: 0,
  marksMore: false,
  addMarks: (read, head, more, newest) =>
    set((s) => ({ marks: mergeMarks(s.marks, read, newest), marksHead: Math.max(s.marksHead, head), marksMore: more })),
});
