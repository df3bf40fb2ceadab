import type { TextAnchor } from "#base/domain/contracts.ts";

/** How much of the text around it an anchor remembers. */
const AROUND = 60;
const LONGEST = 4000;

/** An anchor of a part of a text, as the TextQuoteSelector of the W3C Web Annotation Data Model. */
export function anchorOf(text: string, from: number, to: number): TextAnchor {
  if (from >= to) return {};
  return {
    exact: text.slice(from, Math.min(to, from + LONGEST)),
    prefix: text.slice(Math.max(0, from - AROUND), from),
    suffix: text.slice(to, to + AROUND),
  };
}

/** An anchor of a place in a text: without the text itself, what is before it says where. */
export function anchorAt(text: string, at: number): TextAnchor {
  return { prefix: text.slice(Math.max(0, at - AROUND), at), suffix: text.slice(at, at + AROUND) };
}

/** Where an anchor lies in a text now; undefined when it is gone. Of several places, the one whose surroundings fit best. */
export function findAnchor(text: string, anchor: TextAnchor): { from: number; to: number } | undefined {
  const { exact = "", prefix = "", suffix = "" } = anchor;
  if (!exact) return prefix ? findPlace(text, prefix, suffix) : undefined;
  let best: { from: number; to: number } | undefined;
  let most = -1;
  for (let from = text.indexOf(exact); from >= 0; from = text.indexOf(exact, from + 1)) {
    const to = from + exact.length;
    const fit = sameEnd(text.slice(0, from), prefix) + sameStart(text.slice(to, to + AROUND), suffix);
    if (fit > most) [best, most] = [{ from, to }, fit];
  }
  return best;
}

/** Behind what came before it; of several places that fit as well the last. */
function findPlace(text: string, prefix: string, suffix: string): { from: number; to: number } | undefined {
  let best: number | undefined;
  let most = -1;
  for (let from = text.indexOf(prefix); from >= 0; from = text.indexOf(prefix, from + 1)) {
    const at = from + prefix.length;
    const fit = sameStart(text.slice(at, at + AROUND), suffix);
    if (fit >= most) [best, most] = [at, fit];
  }
  return best === undefined ? undefined : { from: best, to: best };
}

function sameStart(a: string, b: string): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  return n;
}

function sameEnd(a: string, b: string): number {
  let n = 0;
  while (n < a.length && n < b.length && a[a.length - 1 - n] === b[b.length - 1 - n]) n++;
  return n;
}
