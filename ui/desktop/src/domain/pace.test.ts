import fc from "fast-check";
import { expect, it } from "vitest";
import { type Clock, pace } from "./pace";

/** A clock that is wound by hand. */
function clock() {
  let now = 0;
  let timers: { at: number; then(): void }[] = [];
  const it: Clock = {
    now: () => now,
    after(ms, then) {
      const timer = { at: now + ms, then };
      timers.push(timer);
      return () => {
        timers = timers.filter((t) => t !== timer);
      };
    },
  };
  const wind = (ms: number) => {
    const end = now + ms;
    for (;;) {
      const next = timers.filter((t) => t.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      timers = timers.filter((t) => t !== next);
      now = next.at;
      next.then();
    }
    now = end;
  };
  return { it, wind };
}

it("acts at most once in a span, and always on the last value", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 90 }), { minLength: 1, maxLength: 60 }), (gaps) => {
      const { it: time, wind } = clock();
      const acted: { at: number; value: number }[] = [];
      const paced = pace<number>(50, time, (value) => acted.push({ at: time.now(), value }));
      for (const [i, gap] of gaps.entries()) {
        wind(gap);
        paced.put(i);
      }
      wind(50);
      expect(acted.at(-1)?.value).toBe(gaps.length - 1);
      for (const [i, a] of acted.entries()) {
        const before = acted[i - 1];
        if (before) expect(a.at - before.at).toBeGreaterThanOrEqual(50);
      }
    }),
  );
});

it("does what waits at once when it is flushed, and only once", () => {
  const { it: time, wind } = clock();
  const acted: number[] = [];
  const paced = pace<number>(50, time, (value) => acted.push(value));
  paced.put(1);
  paced.put(2);
  paced.flush();
  paced.flush();
  wind(500);
  expect(acted).toEqual([1, 2]);
});
