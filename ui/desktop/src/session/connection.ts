import type { Event } from "#base/domain/contracts.ts";
import type { DraftChanged } from "#base/domain/views.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { Feed, type FeedParts, type FeedState } from "#base/transport/feed.ts";
import { api } from "../transport/api";

/** How long after it gave up a feed is begun again, in milliseconds. */
const RECONNECT_MS = 5_000;

/** What a connection brings. */
export interface ConnectionHears {
  events(events: Event[]): void;
  draft(changed: DraftChanged): void;
  state(state: FeedState): void;
}

/** What it asks the computer for. */
export type ConnectionAsks = Pick<FeedParts, "credentials" | "events" | "open">;

const network: ConnectionAsks = {
  credentials: api.credentials,
  events: (cursor) => api.events(cursor),
  // The bus is not needed to show the desktop.
  open: async (...args) => (await import("#base/transport/bus.ts")).openLine(...args),
};

/** Every event of the computer after one, once and in order, for as long as the page is open. */
export class Connection {
  private readonly hears: ConnectionHears;
  private readonly asks: ConnectionAsks;
  private feed: Feed | undefined;
  private again: ReturnType<typeof setTimeout> | undefined;
  private stopped = false;

  constructor(hears: ConnectionHears, asks: ConnectionAsks = network) {
    this.hears = hears;
    this.asks = asks;
  }

  /** Follows what happens after event `after`. */
  open(after: number): void {
    if (this.stopped) return;
    let state: FeedState | undefined;
    const feed = new Feed(
      {
        ...this.asks,
        onEvents: (events) => this.hears.events(events),
        onLive: () => {},
        onState: (now) => {
          state = now;
          this.hears.state(now);
        },
        onDraft: (changed) => this.hears.draft(changed),
        now: Date.now,
        chance: Math.random,
        sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
      },
      after,
    );
    this.feed = feed;
    unawaited(
      feed.run().then(() => {
        // It gives up when it never was live; a desktop goes on trying.
        if (!this.stopped && state === "given_up") this.again = setTimeout(() => this.open(feed.cursor), RECONNECT_MS);
      }),
    );
  }

  close(): void {
    this.stopped = true;
    clearTimeout(this.again);
    this.feed?.stop();
  }
}
