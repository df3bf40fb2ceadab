import { describe, expect, it } from "vitest";
import type { Event } from "../domain/contracts";
import { Refusal } from "../domain/problem";
import { event } from "../domain/testing";
import type { Hear } from "./bus";
import { Feed, type FeedParts, type FeedState } from "./feed";

const at = (seq: number): Event => event(seq, "session.ended", { reason: "test" });

/** A world of its own: a log, lines that can be cut, and a clock that jumps over every sleep. */
function world(over: Partial<FeedParts> = {}) {
  const log: Event[] = [];
  const heard: number[] = [];
  const states: FeedState[] = [];
  const slept: number[] = [];
  const lines: { hear: Hear; cut(): void }[] = [];
  let now = 0;
  const parts: FeedParts = {
    credentials: async () => ({
      jwt: "",
      seed: "",
      inbox: "",
      // The server's clock is another one.
      expires: new Date(now - 86_400_000).toISOString(),
      lasts_ms: 3_600_000,
      user: "",
      computer: "",
    }),
    events: async (after) => ({ events: log.filter((e) => e.seq > after), head: log.length }),
    open: async (_, hear) => {
      let cut = () => {};
      const ended = new Promise<void>((done) => {
        cut = done;
      });
      lines.push({ hear, cut });
      return { ended, drain: async () => cut() };
    },
    onEvents: (events) => heard.push(...events.map((e) => e.seq)),
    onLive: () => {},
    onState: (state) => states.push(state),
    now: () => now,
    chance: () => 0,
    // Short pauses pass at once; the wait for a renewal never ends by itself.
    sleep: async (ms) => {
      if (ms > 60_000) return new Promise(() => {});
      slept.push(ms);
      now += ms;
    },
    ...over,
  };
  return { log, heard, states, slept, lines, parts };
}

/** Runs a feed beside the test, which fails when the feed does. */
function follow(feed: Feed): void {
  feed.run().catch(expect.fail);
}

const settle = () => new Promise<void>((done) => setTimeout(done));

describe("Feed", () => {
  it("catches up at connect, then hears, each event once", async () => {
    const w = world();
    w.log.push(at(1), at(2));
    const feed = new Feed(w.parts, 0);
    follow(feed);
    await settle();
    w.lines[0]?.hear.event(at(2));
    w.lines[0]?.hear.event(at(3));
    expect(w.heard).toEqual([1, 2, 3]);
    expect(w.states).toEqual(["connecting", "live"]);
    feed.stop();
  });

  it("fills a gap from the log", async () => {
    const w = world();
    const feed = new Feed(w.parts, 0);
    follow(feed);
    await settle();
    w.log.push(at(1), at(2), at(3));
    w.lines[0]?.hear.event(at(3));
    await settle();
    expect(w.heard).toEqual([1, 2, 3]);
    feed.stop();
  });

  it("is not live while it is behind: a gap that could not be filled is filled later", async () => {
    let broken = false;
    const w = world();
    const { events } = w.parts;
    w.parts.events = (after) => (broken ? Promise.reject(new Error("down")) : events(after));
    const { sleep } = w.parts;
    w.parts.sleep = async (ms) => {
      await sleep(ms);
      if (w.slept.length === 3) broken = false;
    };
    const feed = new Feed(w.parts, 0);
    follow(feed);
    await settle();
    w.log.push(at(1), at(2), at(3));
    broken = true;
    // No other event comes after this one.
    w.lines[0]?.hear.event(at(3));
    await settle();
    await settle();
    expect(w.heard).toEqual([1, 2, 3]);
    expect(feed.cursor).toBe(3);
    expect(w.states).toEqual(["connecting", "live", "reconnecting", "reconnecting", "reconnecting", "live"]);
    feed.stop();
  });

  it("connects again with growing pauses and misses nothing", async () => {
    let refuse = 0;
    const w = world();
    const open = w.parts.open;
    w.parts.open = (grant, hear) => (refuse-- > 0 ? Promise.reject(new Error("down")) : open(grant, hear));
    const feed = new Feed(w.parts, 0);
    follow(feed);
    await settle();
    refuse = 2;
    w.log.push(at(1));
    w.lines[0]?.cut();
    await settle();
    expect(w.slept).toEqual([500, 1000, 2000]);
    expect(w.heard).toEqual([1]);
    expect(w.states.at(-1)).toBe("live");
    feed.stop();
  });

  it("gives up after eight seconds when it never was live", async () => {
    const down = () => Promise.reject(new Error("down"));
    const w = world({ open: down, events: down });
    await new Feed(w.parts, 0).run();
    expect(w.states).toEqual([
      "connecting",
      "connecting",
      "connecting",
      "connecting",
      "connecting",
      "connecting",
      "given_up",
    ]);
    expect(w.slept).toEqual([500, 1000, 2000, 4000, 500]);
  });

  it("reads the log again and again where the line does not open, and goes live once it does", async () => {
    let opens = false;
    const w = world();
    const { open, sleep } = w.parts;
    w.parts.open = (grant, hear) => (opens ? open(grant, hear) : Promise.reject(new Error("no WebSocket")));
    w.parts.sleep = async (ms) => {
      await sleep(ms);
      if (w.slept.length === 6) opens = true;
      else if (w.slept.length < 6) w.log.push(at(w.log.length + 1));
    };
    const feed = new Feed(w.parts, 0);
    follow(feed);
    while (!w.states.includes("live")) await settle();
    expect(w.states).toEqual(["connecting", ...Array.from({ length: 6 }, () => "polling"), "live"]);
    expect(w.slept).toEqual([500, 1000, 2000, 3000, 3000, 3000]);
    expect(w.heard).toEqual([1, 2, 3, 4, 5]);
    feed.stop();
  });

  it("renews by how long its identity lasts, not by a clock that is another's", async () => {
    const waits: number[] = [];
    const w = world();
    w.parts.sleep = (ms) => {
      waits.push(ms);
      return new Promise(() => {});
    };
    const feed = new Feed(w.parts, 0);
    follow(feed);
    await settle();
    expect(waits).toEqual([3_540_000]);
    feed.stop();
  });

  it("stops when nobody is logged in any more", async () => {
    const gone = new Refusal({ status: 401, code: "unauthenticated", detail: "ended" });
    const w = world({ credentials: () => Promise.reject(gone) });
    await new Feed(w.parts, 0).run();
    expect(w.states).toEqual(["connecting", "logged_out"]);
  });

  it("renews its identity on a second line before the first is closed", async () => {
    const closed: number[] = [];
    let renewed = false;
    const w = world();
    const { open, sleep } = w.parts;
    w.parts.sleep = async (ms) => {
      if (ms <= 60_000 || renewed) return sleep(ms);
      renewed = true;
    };
    w.parts.open = async (grant, hear) => {
      const line = await open(grant, hear);
      const drain = async () => {
        closed.push(w.lines.length);
      };
      return { ...line, drain };
    };
    const feed = new Feed(w.parts, 0);
    follow(feed);
    await settle();
    await settle();
    expect(w.lines).toHaveLength(2);
    expect(closed).toEqual([2]);
    feed.stop();
  });
});
