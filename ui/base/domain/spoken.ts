/** Something that is said once to those who hear the page. */
export interface Line {
  n: number;
  text: string;
}

/** Lines that stay in the page: a screen reader may read what is added some time later. */
const KEPT = 4;

/** Adds a line to those that were said last; the same words are a new line. */
export function withLine(lines: readonly Line[], text: string): readonly Line[] {
  return [...lines.slice(1 - KEPT), { n: (lines.at(-1)?.n ?? 0) + 1, text }];
}
