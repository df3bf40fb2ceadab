import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Source } from "../domain/source";
import { SourceWatch } from "./watch";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function rig() {
  const it = { served: { mode: "shipped" } as Source, told: [] as Source[], reopened: 0, away: false };
  const watch = new SourceWatch({
    read: async () => {
      if (it.away) throw new Error("away");
      return it.served;
    },
    tell: (s) => it.told.push(s),
    reopen: () => it.reopened++,
  });
  const later = () => vi.advanceTimersByTimeAsync(5_000);
  return {
    it,
    watch,
    later,
    /** The source is served from elsewhere now, and the watch is told to look. */
    async change(served: Source) {
      it.served = served;
      watch.touched();
      await later();
    },
  };
}

it("moves over once when the source is served from elsewhere, and back", async () => {
  const { it, watch, later, change } = rig();
  watch.opening(it.away ? undefined : it.served);
  watch.opened();
  await later();
  expect(it.reopened).toBe(0);
  await change({ mode: "live" });
  expect(it.reopened).toBe(1);
  watch.opening(it.away ? undefined : it.served);
  watch.opened();
  watch.touched();
  await later();
  expect(it.reopened).toBe(1);
  await change({ mode: "shipped" });
  expect(it.reopened).toBe(2);
});

it("moves over when that changes just as a page has opened, or while it opens", async () => {
  const { it, watch, later, change } = rig();
  it.served = { mode: "live" };
  watch.opening(it.away ? undefined : it.served);
  watch.opened();
  await change({ mode: "shipped" });
  expect(it.reopened).toBe(1);
  watch.opening(it.away ? undefined : it.served);
  it.served = { mode: "live" };
  watch.opened();
  await later();
  expect(it.reopened).toBe(2);
});

it("goes on where the source cannot be read at first", async () => {
  const { it, watch, later, change } = rig();
  it.away = true;
  watch.opening(it.away ? undefined : it.served);
  it.away = false;
  watch.opened();
  await later();
  expect(it.reopened).toBe(0);
  await change({ mode: "live" });
  expect(it.reopened).toBe(1);
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
  watch.opening(it.away ? undefined : it.served);
  watch.opened();
  watch.stop();
  await later();
  expect(it.told).toHaveLength(0);
});
