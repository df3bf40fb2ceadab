/** The one part in which two texts differ: `to` is where it ends in the first, `insert` what the second has there. */
export interface Splice {
  from: number;
  to: number;
  insert: string;
}

/** Finds what makes one text of another; undefined when they are the same. */
export function spliceOf(before: string, after: string): Splice | undefined {
  if (before === after) return undefined;
  const most = Math.min(before.length, after.length);
  let from = 0;
  while (from < most && before.charCodeAt(from) === after.charCodeAt(from)) from++;
  let same = 0;
  while (
    same < most - from &&
    before.charCodeAt(before.length - 1 - same) === after.charCodeAt(after.length - 1 - same)
  )
    same++;
  return { from, to: before.length - same, insert: after.slice(from, after.length - same) };
}

const withSplice = (text: string, { from, to, insert }: Splice) => text.slice(0, from) + insert + text.slice(to);

/**
 * Merges two texts that were made of one: undefined when both changed the same
 * place, or places that touch, because nobody can say which comes first.
 */
export function merged(base: string, mine: string, theirs: string): string | undefined {
  const a = spliceOf(base, mine);
  const b = spliceOf(base, theirs);
  if (!a || mine === theirs) return theirs;
  if (!b) return mine;
  // The later place first, so that the other's numbers still fit.
  if (a.to < b.from) return withSplice(withSplice(base, b), a);
  if (b.to < a.from) return withSplice(withSplice(base, a), b);
  return undefined;
}
