import { expect, it } from "vitest";
import { backoff } from "./backoff";

it("doubles from half a second to eight seconds", () => {
  expect([0, 1, 2, 3, 4, 5, 50].map((n) => backoff(n, 0))).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000]);
});

it("takes off at most a quarter", () => {
  expect(backoff(4, 0.999)).toBeGreaterThanOrEqual(6000);
  expect(backoff(4, 0.5)).toBe(7000);
});
