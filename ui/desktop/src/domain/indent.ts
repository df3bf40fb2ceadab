/** What one level is indented by where a text does not say. */
const usual: Record<string, string> = {
  go: "\t",
  py: "    ",
  rs: "    ",
  java: "    ",
  c: "    ",
  h: "    ",
  cpp: "    ",
  php: "    ",
};

/** Lines that are looked at. */
const MANY = 2000;

/** What one level is indented by in a text: as its lines are, or else as is usual in files with this ending. */
export function indentOf(text: string, ending: string): string {
  let tabs = 0;
  const steps = new Map<number, number>();
  let before = 0;
  for (const line of text.split("\n", MANY)) {
    const [, blank = "", first] = /^([ \t]*)(\S)?/.exec(line) ?? [];
    if (!first) continue;
    if (blank.includes("\t")) tabs++;
    // One space more begins a line of a comment, not a level.
    const step = blank.length - before;
    if (!blank.includes("\t") && step > 1) steps.set(step, (steps.get(step) ?? 0) + 1);
    before = blank.length;
  }
  const [most] = [...steps].sort(([a, n], [b, m]) => m - n || a - b);
  if (tabs > (most?.[1] ?? 0)) return "\t";
  return most && most[0] <= 8 ? " ".repeat(most[0]) : (usual[ending] ?? "  ");
}
