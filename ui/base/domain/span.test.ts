import { expect, it } from "vitest";
import { MINUTE_MS, minutes } from "./span.ts";

it.each([
  [MINUTE_MS, "1 min 0 s"],
  [119_400, "1 min 59 s"],
  [119_600, "2 min 0 s"],
  [250_000, "4 min 10 s"],
  [3_599_999, "60 min 0 s"],
])("rounds seconds before it counts minutes: %s ms", (ms, words) => {
  expect(minutes(ms)).toBe(words);
});
