import { describe, expect, it } from "vitest";
import { TICK_MS, Ticker } from "./ticker";

/** A page whose time and sight are set by hand. */
function lab() {
  const timers = new Set<() => void>();
  const watchers = new Set<() => void>();
  const page = { time: 1e12, seen: true };
  const addListener = (set: Set<() => void>, then: () => void) => {
    set.add(then);
    return () => {
      set.delete(then);
    };
  };
  const ticker = new Ticker({
    now: () => page.time,
    isSeen: () => page.seen,
    every: (_, then) => addListener(timers, then),
    onSeen: (then) => addListener(watchers, then),
  });
  return {
    ticker,
    timers,
    watchers,
    pass: (ms: number) => {
      page.time += ms;
      for (const timer of timers) timer();
    },
    see: (seen: boolean) => {
      page.seen = seen;
      for (const changed of watchers) changed();
    },
    page,
  };
}

describe("the time that ages are said by", () => {
  it("moves on for all who show it, by one timer", () => {
    const { ticker, timers, pass } = lab();
    const told: string[] = [];
    const beganAt = ticker.now();
    ticker.subscribe(() => told.push("a"));
    ticker.subscribe(() => told.push("b"));
    expect(timers.size).toBe(1);
    pass(TICK_MS);
    expect(told).toEqual(["a", "b"]);
    expect(ticker.now()).toBe(beganAt + TICK_MS);
  });

  it("stays the same between two ticks, and is of now for whoever comes later", () => {
    const { ticker, page } = lab();
    const beganAt = ticker.now();
    page.time += TICK_MS - 1;
    expect(ticker.now()).toBe(beganAt);
    page.time += 60 * TICK_MS;
    expect(ticker.now()).toBe(page.time);
  });

  it("rests while the page is hidden, and catches up when it is seen again", () => {
    const { ticker, timers, page, see } = lab();
    let told = 0;
    ticker.subscribe(() => told++);
    see(false);
    expect(timers.size).toBe(0);
    page.time += 1000;
    see(true);
    expect([timers.size, told, ticker.now()]).toEqual([1, 1, page.time]);
  });

  it("rests once nothing shows it", () => {
    const { ticker, timers, watchers } = lab();
    const unsubscribes = [ticker.subscribe(() => undefined), ticker.subscribe(() => undefined)];
    unsubscribes[0]?.();
    expect(timers.size).toBe(1);
    unsubscribes[1]?.();
    expect([timers.size, watchers.size]).toEqual([0, 0]);
  });
});
