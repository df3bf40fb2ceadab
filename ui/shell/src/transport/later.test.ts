import { expect, it } from "vitest";
import type { Event } from "#base/domain/contracts.ts";
import { later, MOMENT_MS } from "./later";

it("gives what arrives on a moment later, in its order", () => {
  const timers: [() => void, number][] = [];
  const heard: string[] = [];
  const hear = later(
    { event: (e) => heard.push(`event ${e.seq}`), live: (_, role, text) => heard.push(`${role}: ${text}`) },
    (what, ms) => timers.push([what, ms]),
  );
  const event = (seq: number) => hear.event({ seq } as Event);
  event(1);
  hear.live("run", "director", "a word");
  event(2);
  expect(heard).toEqual([]);
  expect(timers.length, "one wait for all").toEqual(1);
  expect(timers[0]?.[1]).toEqual(MOMENT_MS);
  timers.shift()?.[0]();
  expect(heard).toEqual(["event 1", "director: a word", "event 2"]);
  event(3);
  expect(timers.length, "what comes after it waits anew").toEqual(1);
  timers[0]?.[0]();
  expect(heard.at(-1)).toEqual("event 3");
});
