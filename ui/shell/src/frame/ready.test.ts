import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { READY_MS, ReadyWatch } from "./ready";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets pages load (L) and be ready (R), then says how often one was called silent. */
function silences(story: string): number {
  const silent = vi.fn();
  const watch = new ReadyWatch(silent);
  for (const step of story) {
    if (step === "R") watch.ready();
    if (step === "L") watch.loaded();
    if (step === "-") vi.advanceTimersByTime(READY_MS + 1);
  }
  vi.advanceTimersByTime(READY_MS + 1);
  watch.end();
  return silent.mock.calls.length;
}

it.each(["RL", "LR", "RL-RL", "RLLR", "LRRL", "LR-LR", "RL-LR"])("is content with %s", (story) =>
  expect(silences(story)).toBe(0),
);

it.each(["", "L", "RLL", "LRL", "RL-L", "LR-L", "LRLRL"])("notices the silent page of %s", (story) =>
  expect(silences(story)).toBe(1),
);
