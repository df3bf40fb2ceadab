import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { event } from "#base/domain/testing.ts";
import { Connection, type ConnectionAsks } from "./connection";

const closed = (seq: number) => event(seq, "window.closed", { window: "w" });
const away = () => Promise.reject(new Error("away"));

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function connection(asks: ConnectionAsks) {
  const heard: number[] = [];
  const states: string[] = [];
  const made = new Connection(
    {
      events: (events) => heard.push(...events.map((e) => e.seq)),
      draft: () => {},
      state: (state) => states.push(state),
    },
    asks,
  );
  return { made, heard, states };
}

it("begins again where it was after it gave up, and not once it is closed", async () => {
  const asked: number[] = [];
  let log: ReturnType<typeof closed>[] | undefined;
  const { made, heard, states } = connection({
    credentials: away,
    events: (after) => {
      asked.push(after);
      return log ? Promise.resolve({ events: log.filter((e) => e.seq > after), head: 5 }) : away();
    },
    open: away,
  });
  made.open(3);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(states).toContain("given_up");
  log = [closed(4), closed(5)];
  await vi.advanceTimersByTimeAsync(20_000);
  expect(heard).toEqual([4, 5]);
  expect(asked[0]).toBe(3);
  made.close();
  const before = asked.length;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked.length).toBe(before);
});
