import fc from "fast-check";
import { expect, it } from "vitest";
import { inTurns, sortSteps } from "./steps";

const pair = fc.record({ key: fc.integer({ min: 0, max: 40 }), was: fc.integer() });
const order = (a: { key: number }, b: { key: number }) => a.key - b.key;

it("sorts as Array.sort does, equal ones as they came", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(pair, { maxLength: 2600, size: "max" }), async (list) => {
      expect(await inTurns(sortSteps(list, order), new AbortController().signal)).toEqual([...list].sort(order));
    }),
    { numRuns: 40 },
  );
});

it("never does more in one step than is felt", () => {
  const list = Array.from({ length: 20_000 }, (_, i) => (i * 7919) % 20_000);
  let asked = 0;
  let most = 0;
  const steps = sortSteps(list, (a, b) => {
    asked++;
    return a - b;
  });
  for (let step = steps.next(); !step.done; step = steps.next()) {
    most = Math.max(most, asked);
    asked = 0;
  }
  expect(most).toBeLessThan(6000);
});

it("ends when it is given up", async () => {
  const endless = (function* () {
    for (;;) yield;
  })();
  const given = new AbortController();
  const end = inTurns(endless, given.signal);
  given.abort();
  await expect(end).rejects.toThrow();
});
