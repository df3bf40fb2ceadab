import type { Digest } from "#base/domain/contracts.ts";

/** A file as it was read or saved. */
export interface Version {
  text: string;
  digest: Digest | undefined;
}

/** A text that is being written, and the file below it. */
export interface Draft {
  /** What the writing began with, or was saved as last. */
  base: Version;
  text: string;
  /** What someone else wrote meanwhile. */
  theirs: Version | undefined;
  saving: boolean;
}

/** Begins with a file as it was read. */
export function draftOf(base: Version): Draft {
  return { base, text: base.text, theirs: undefined, saving: false };
}

/** There is something to save. */
export function isDirty(draft: Draft): boolean {
  return draft.text !== draft.base.text;
}

/** The text was changed by hand. */
export function typed(draft: Draft, text: string): Draft {
  return { ...draft, text };
}

/** The file is found as it is now. What is being written is never touched. */
export function found(draft: Draft, now: Version): Draft {
  if (draft.saving || now.digest === draft.base.digest)
    return { ...draft, theirs: draft.saving ? draft.theirs : undefined };
  if (now.text === draft.text) return { ...draft, base: now, theirs: undefined };
  return isDirty(draft) ? { ...draft, theirs: now } : draftOf(now);
}

/** A text was saved; what was typed meanwhile stays. */
export function saved(draft: Draft, as: Version): Draft {
  return { ...draft, base: as, theirs: undefined, saving: false };
}

/** A save was refused: someone else's version is there. */
export function conflicted(draft: Draft, theirs: Version): Draft {
  return { ...draft, theirs, saving: false };
}

/** Decides a conflict: theirs replaces what was written, or mine will be saved over theirs. */
export function decided(draft: Draft, which: "mine" | "theirs"): Draft {
  const { theirs } = draft;
  if (!theirs) return draft;
  return which === "theirs" ? draftOf(theirs) : { ...draft, base: theirs, theirs: undefined };
}
