import type { Event, OverlayAdded, OverlaySettled } from "#base/domain/contracts.ts";

/** Who something comes from. */
export type Source = Event["source"];
/** Text to take the place of other text, or words about it. */
export type OverlayKind = OverlayAdded["kind"];
/** What became of an overlay. */
export type OverlayOutcome = OverlaySettled["outcome"];

/** A version of a document, as it is kept. */
export interface Kept {
  version: number;
  content: string;
  by: Source | undefined;
}

/** A document that is being written. */
export interface Writing {
  /** The version that the text was made of. */
  base: Kept;
  text: string;
  /** Something was typed since the text came from the server. */
  touched: boolean;
  /** A newer version of someone else's, which is offered. */
  theirs: Kept | undefined;
  /** A save was refused because of it. */
  stale: boolean;
  saving: boolean;
  /** The last save did not reach the computer. */
  away: boolean;
}

/** Begins with a version. */
export function writingOf(base: Kept): Writing {
  return { base, text: base.content, touched: false, theirs: undefined, stale: false, saving: false, away: false };
}

/** There is something to save. */
export function isUnsaved(w: Writing): boolean {
  return w.touched && w.text !== w.base.content;
}

/** It may be saved without asking: nobody else's version is in the way. */
export function maySave(w: Writing): boolean {
  return isUnsaved(w) && !w.saving && w.theirs === undefined;
}

/** The text was changed by hand. */
export function wrote(w: Writing, text: string): Writing {
  return { ...w, text, touched: true };
}

/** The newest version became known. A text that was typed is never touched: the version is offered. */
export function arrived(w: Writing, newest: Kept): Writing {
  if (w.saving || newest.version <= w.base.version) return w;
  if (!w.touched) return writingOf(newest);
  if (newest.content === w.text) return { ...w, base: newest, theirs: undefined, stale: false };
  return { ...w, theirs: newest };
}

/** A save is on its way. */
export function sending(w: Writing): Writing {
  return { ...w, saving: true };
}

/** A text was saved as a version; what was typed meanwhile stays. */
export function savedAs(w: Writing, version: Kept): Writing {
  return { ...w, base: version, theirs: undefined, stale: false, saving: false, away: false };
}

/** A save was refused: someone else's version is the newest, or this text, of whose save the answer did not come. */
export function refusedBy(w: Writing, newest: Kept): Writing {
  if (newest.content === w.text) return savedAs(w, newest);
  return { ...w, theirs: newest, stale: true, saving: false, away: false };
}

/** A save did not reach the computer, or failed there; the text stays. */
export function failed(w: Writing, away: boolean): Writing {
  return { ...w, saving: false, away };
}

/** Goes on with a text that was typed over the version `made` and not saved. A newer version is offered. */
export function restored(newest: Kept, text: string, made: number): Writing {
  if (text === newest.content) return writingOf(newest);
  const w = { ...writingOf(newest), text, touched: true };
  if (made === newest.version) return w;
  return { ...w, base: { version: made, content: "", by: undefined }, theirs: newest, stale: true };
}

/** Lets go of what was typed. */
export function letGo(w: Writing): Writing {
  return writingOf(w.theirs ?? w.base);
}

/** Decides about the version that is offered. Mine goes on top of it with the next save. */
export function choose(w: Writing, which: "mine" | "theirs"): Writing {
  if (!w.theirs) return w;
  return which === "theirs" ? writingOf(w.theirs) : { ...w, base: w.theirs, theirs: undefined, stale: false };
}
