/** What a ticker needs of a page. */
export interface TickerPage {
  now(): number;
  isSeen(): boolean;
  /** Calls back each so many milliseconds; gives what ends it. */
  every(ms: number, then: () => void): () => void;
  /** Calls back when the page is hidden, and when it is seen again; gives what ends it. */
  onSeen(then: () => void): () => void;
}

/** Milliseconds between two ticks. */
export const TICK_MS = 15_000;

/**
 * The time of a page for words such as "2 min ago". One timer serves everything that
 * shows such words; it rests while nothing does, and while the page is hidden.
 */
export class Ticker {
  private readonly page: TickerPage;
  private readonly listeners = new Set<() => void>();
  private at = 0;
  private stopTimer: (() => void) | undefined;
  private stopWatching: (() => void) | undefined;

  constructor(page: TickerPage) {
    this.page = page;
  }

  /** Gives the time of the last tick, in milliseconds since 1970; it is at most one tick ago while the page is seen. */
  readonly now = (): number => {
    const now = this.page.now();
    if (Math.abs(now - this.at) >= TICK_MS) this.at = now;
    return this.at;
  };

  /** Calls back at each tick; gives what ends it. */
  readonly subscribe = (changed: () => void): (() => void) => {
    this.listeners.add(changed);
    this.stopWatching ??= this.page.onSeen(this.follow);
    this.run();
    return () => {
      this.listeners.delete(changed);
      if (this.listeners.size === 0) this.rest();
    };
  };

  private readonly follow = (): void => {
    if (!this.page.isSeen()) {
      this.stopTimer?.();
      this.stopTimer = undefined;
      return;
    }
    this.tick();
    this.run();
  };

  private run(): void {
    if (this.page.isSeen()) this.stopTimer ??= this.page.every(TICK_MS, this.tick);
  }

  private rest(): void {
    this.stopTimer?.();
    this.stopWatching?.();
    this.stopTimer = undefined;
    this.stopWatching = undefined;
  }

  private readonly tick = (): void => {
    this.at = this.page.now();
    for (const changed of this.listeners) changed();
  };
}
