/** Lines that a comparison may cost; beyond it everything counts as changed. */
const MAX_COST = 4_000_000;

type Step = readonly ["+" | "-" | " ", string];

/**
 * A unified diff of two texts with all their lines, empty when they are alike.
 * Longest common subsequence, after what both begin and end with.
 */
export function compareText(path: string, before: string, after: string): string {
  if (before === after) return "";
  const [a, b] = [linesOf(before), linesOf(after)];
  const steps = compareLines(a, b).map(([mark, line]) => `${mark}${line}`);
  const range = (n: number) => `${n === 0 ? 0 : 1},${n}`;
  return [`--- a/${path}`, `+++ b/${path}`, `@@ -${range(a.length)} +${range(b.length)} @@`, ...steps, ""].join("\n");
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}

/** The steps from one list of lines to another. */
export function compareLines(a: readonly string[], b: readonly string[]): Step[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const kept = (line: string): Step => [" ", line];
  return [
    ...a.slice(0, head).map(kept),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(kept),
  ];
}

function middle(a: readonly string[], b: readonly string[]): Step[] {
  if (a.length * b.length > MAX_COST) {
    return [...a.map((l): Step => ["-", l]), ...b.map((l): Step => ["+", l])];
  }
  // length[i][j] is the longest common subsequence of a from i and b from j.
  const width = b.length + 1;
  const length = new Uint32Array((a.length + 1) * width);
  const of = (i: number, j: number) => length[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i * width + j] = a[i] === b[j] ? of(i + 1, j + 1) + 1 : Math.max(of(i + 1, j), of(i, j + 1));
    }
  }
  const steps: Step[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      steps.push([" ", a[i] as string]);
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && of(i + 1, j) >= of(i, j + 1))) {
      steps.push(["-", a[i++] as string]);
    } else {
      steps.push(["+", b[j++] as string]);
    }
  }
  return steps;
}
