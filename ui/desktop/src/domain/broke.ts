/** Where something broke: a file of the desktop's own source, and a line as it is served. */
export interface Place {
  file?: string;
  line?: number;
}

/** The first place in an error's stack that is of the source this origin serves. */
export function placeOf(stack: string, origin: string): Place {
  const own = `${origin}/src/`;
  for (const frame of stack.split("\n")) {
    const at = frame.indexOf(own);
    if (at < 0) continue;
    const found = /^(src\/[^?:)\s]+)(?:\?[^:)\s]*)?:(\d+)/.exec(frame.slice(at + origin.length + 1));
    if (found?.[1]) return { file: found[1], line: Number(found[2]) };
  }
  return {};
}

/** Whether an error is that code of the page did not come: Chromium's, Firefox' and Safari's words, in this order. */
export function isUnfetched(error: Error): boolean {
  return /dynamically imported module|importing a module script failed/i.test(error.message);
}
