/** How many are sorted in one step. */
const RUN = 500;
/** How long steps follow each other before the page has its turn, in milliseconds. */
const TURN_MS = 12;

/** Sorts as Array.sort does, in steps of a few milliseconds. */
export function* sortSteps<T>(list: readonly T[], order: (a: T, b: T) => number): Generator<void, T[]> {
  let runs: T[][] = [];
  for (let i = 0; i < list.length; i += RUN) {
    runs.push(list.slice(i, i + RUN).sort(order));
    yield;
  }
  while (runs.length > 1) {
    const longer: T[][] = [];
    for (let i = 0; i < runs.length; i += 2) longer.push(yield* mergeSteps(runs[i] ?? [], runs[i + 1] ?? [], order));
    runs = longer;
  }
  return runs[0] ?? [];
}

function* mergeSteps<T>(left: readonly T[], right: readonly T[], order: (a: T, b: T) => number): Generator<void, T[]> {
  const merged: T[] = [];
  for (let l = 0, r = 0; l < left.length || r < right.length; ) {
    const a = left[l];
    const b = right[r];
    // What is equal stays in the order it came.
    const takesLeft = b === undefined || (a !== undefined && order(a, b) <= 0);
    merged.push((takesLeft ? a : b) as T);
    if (takesLeft) l++;
    else r++;
    if (merged.length % RUN === 0) yield;
  }
  return merged;
}

/** Does steps to their end, a few at a time, so that the page goes on meanwhile; rejects once it is given up. */
export async function inTurns<T>(steps: Generator<void, T>, signal: AbortSignal): Promise<T> {
  for (let end = performance.now() + TURN_MS; ; ) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() < end) continue;
    await new Promise((next) => setTimeout(next));
    signal.throwIfAborted();
    end = performance.now() + TURN_MS;
  }
}
