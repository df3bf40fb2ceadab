// C0 and C1 but tab and line ends, DEL, line and paragraph separators, and what
// changes the direction of writing. A carriage return belongs to a line end only.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const hidden = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\n|$)/g;

/**
 * Makes visible what would not be seen, or would make other words look different:
 * ESC as \x1b, a right-to-left override as \u202e. Words of agents, names of files
 * and answers of models may have any of them.
 */
export function visible(text: string): string {
  return text.replace(hidden, (c) => {
    const code = c.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}
