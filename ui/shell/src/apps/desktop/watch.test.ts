import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Source } from "../../domain/source";
import { SourceWatch } from "./watch";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function rig() {
  const it = { served: { mode: "shipped" } as Source, told: [] as Source[], reopened: 0 };
  const watch = new SourceWatch({
    read: async () => it.served,
    tell: (s) => it.told.push(s),
    reopen: () => it.reopened++,
  });
  return { it, watch, later: () => vi.advanceTimersByTimeAsync(5_000) };
}

it("moves over once when the source is served from elsewhere, and back", async () => {
  const { it, watch, later } = rig();
  watch.opened();
  await later();
  expect(it.reopened).toBe(0);
  it.served = { mode: "live" };
  watch.touched();
  await later();
  expect(it.reopened).toBe(1);
  watch.opened();
  watch.touched();
  await later();
  expect(it.reopened).toBe(1);
  it.served = { mode: "shipped" };
  watch.touched();
  await later();
  expect(it.reopened).toBe(2);
});

it("tells what broke", async () => {
  const { it, watch, later } = rig();
  it.served = { mode: "live", error: "Unexpected token" };
  watch.opened();
  await later();
  expect(it.told.at(-1)).toEqual({ mode: "live", error: "Unexpected token" });
});

it("looks no more once stopped", async () => {
  const { it, watch, later } = rig();
  watch.opened();
  watch.stop();
  await later();
  expect(it.told).toHaveLength(0);
});
