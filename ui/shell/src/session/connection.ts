import type { Event } from "#base/domain/contracts.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { Feed, type FeedParts } from "#base/transport/feed.ts";
import { useStore } from "../state/store";
import type { ComputerAPI } from "../transport/api";
import { later } from "../transport/later";

/** Every event of a computer after one, once and in order, and the text that streams meanwhile. */
export class Connection {
  private readonly api: Pick<ComputerAPI, "credentials" | "events">;
  private readonly hear: (events: Event[]) => void;
  private feed: Feed | undefined;

  constructor(api: Pick<ComputerAPI, "credentials" | "events">, hear: (events: Event[]) => void) {
    this.api = api;
    this.hear = hear;
  }

  /** It was opened, and may have given up since. */
  get isOpened(): boolean {
    return this.feed !== undefined;
  }

  /** Follows what happens after event `after`, or tries again after having given up. */
  open(after: number): void {
    this.feed?.stop();
    this.feed = new Feed(this.parts(), after);
    unawaited(this.feed.run());
  }

  close(): void {
    this.feed?.stop();
  }

  private parts(): FeedParts {
    const store = useStore.getState();
    return {
      credentials: () => this.api.credentials(),
      events: (after) => this.api.events(after),
      // The page is there before the line is.
      open: async (grant, hear) => (await import("#base/transport/bus.ts")).openLine(grant, later(hear)),
      onEvents: this.hear,
      onLive: store.hear,
      onState: store.setConnection,
      now: Date.now,
      chance: Math.random,
      sleep: pause,
    };
  }
}

/** Resolves after so many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
