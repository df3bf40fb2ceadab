/** How well a text fits: 0 whole, 1 at its beginning, 2 where words begin, 3 elsewhere. */
export type Rank = 0 | 1 | 2 | 3;

/** Says how well a text fits what was typed; undefined when a word of it is nowhere. */
export function rankOf(text: string, typed: string): Rank | undefined {
  const [low, wanted] = [text.toLowerCase(), typed.trim().toLowerCase()];
  if (low === wanted) return 0;
  if (low.startsWith(wanted)) return 1;
  const words = wanted.split(/\s+/);
  if (!words.every((word) => low.includes(word))) return undefined;
  return words.every((word) => beginsWord(low, word)) ? 2 : 3;
}

function beginsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? "")) return true;
  return false;
}

/** Something that is found by one of its texts. */
export interface Findable {
  /** The first is what is shown. */
  texts: readonly string[];
}

/** The entries that fit, the best first, of those that fit alike in their order; all of them when nothing is typed. */
export function ranked<T extends Findable>(entries: readonly T[], typed: string): T[] {
  if (!typed.trim()) return [...entries];
  const fits = entries.flatMap((entry) => {
    const ranks = entry.texts.flatMap((text) => rankOf(text, typed) ?? []);
    return ranks.length > 0 ? [{ entry, rank: Math.min(...ranks) }] : [];
  });
  return fits.sort((a, b) => a.rank - b.rank).map(({ entry }) => entry);
}
