import type { Digest } from "#base/domain/contracts.ts";

/** A file as it was read or saved. */
export interface Version {
  text: string;
  digest: Digest | undefined;
}

/** What someone else wrote: a version of the file, or a text that another browser typed and did not save. */
export interface Theirs extends Version {
  unsaved?: true;
}

/** A text that is being written, and the file below it. */
export interface Draft {
  /** What the writing began with, or was saved as last. */
  base: Version;
  text: string;
  /** What someone else wrote meanwhile. */
  theirs: Theirs | undefined;
  saving: boolean;
  /** The text as the server told of it, typed in another browser or before; undefined once something is typed here. */
  heard?: string | undefined;
}

/** Begins with a file as it was read. */
export function draftOf(base: Version): Draft {
  return { base, text: base.text, theirs: undefined, saving: false };
}

/** There is something to save. */
export function isDirty(draft: Draft): boolean {
  return draft.text !== draft.base.text || draft.theirs !== undefined;
}

/** The text was changed by hand. */
export function typed(draft: Draft, text: string): Draft {
  return { ...draft, text, heard: undefined };
}

/**
 * The text that the server is to keep of a draft: null for none, undefined when the text came from there. It may be an
 * old one by now, and sent back it would replace a newer one or bring back one that was discarded.
 */
export function toKeep(draft: Draft): { text: string; base: string } | null | undefined {
  if (!isDirty(draft)) return null;
  if (draft.text === draft.heard) return undefined;
  return { text: draft.text, base: draft.base.digest ?? "" };
}

/**
 * Goes on with a text that was typed before and not saved, made of the file with
 * the digest `made`. When the file is another one now, both sides are kept.
 */
export function restored(now: Version, text: string, made: string): Draft {
  if (text === now.text) return draftOf(now);
  if (made === (now.digest ?? "")) return typed(draftOf(now), text);
  return { base: { text: "", digest: made || undefined }, text, theirs: now, saving: false };
}

/** The file is found as it is now. What is being written is never touched. */
export function found(draft: Draft, now: Version): Draft {
  const theirs = draft.theirs?.unsaved || draft.saving ? draft.theirs : undefined;
  if (now.digest === draft.base.digest) return { ...draft, base: now, theirs };
  if (draft.saving) return draft;
  if (now.text === draft.text) return { ...draft, base: now, theirs };
  return isDirty(draft) ? { ...draft, theirs: theirs ?? now } : draftOf(now);
}

/** A text was saved; what was typed meanwhile stays. */
export function saved(draft: Draft, as: Version): Draft {
  return { ...draft, base: as, theirs: undefined, saving: false };
}

/**
 * A save was refused: someone else's version is there, or this one, of which the answer did not come. Or another
 * browser typed in the same place.
 */
export function conflicted(draft: Draft, theirs: Theirs): Draft {
  if (!theirs.unsaved && theirs.text === draft.text) return saved(draft, theirs);
  return { ...draft, theirs, saving: false };
}

/** Decides a conflict: theirs replaces what was written, or mine stays, to be saved over theirs. */
export function decided(draft: Draft, which: "mine" | "theirs"): Draft {
  const { theirs } = draft;
  if (!theirs) return draft;
  if (theirs.unsaved) return { ...draft, text: which === "theirs" ? theirs.text : draft.text, theirs: undefined };
  return which === "theirs" ? draftOf(theirs) : { ...draft, base: theirs, theirs: undefined, heard: undefined };
}
