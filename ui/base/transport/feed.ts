import { backoff, PATIENCE_MS } from "../domain/backoff";
import type { Event, ID } from "../domain/contracts";
import { type Fold, startFold, take } from "../domain/fold";
import { Refusal } from "../domain/problem";
import type { DraftChanged, EventPage, Grant } from "../domain/views";
import type { Hear, Line } from "./bus";

/** How the feed stands. */
export type FeedState = "connecting" | "live" | "polling" | "reconnecting" | "given_up" | "logged_out";

/** What the feed needs of the world. */
export interface FeedParts {
  credentials(): Promise<Grant>;
  events(after: number): Promise<EventPage>;
  open(grant: Grant, hear: Hear): Promise<Line>;
  onEvents(events: Event[]): void;
  onLive(run: ID, role: string, text: string): void;
  onState(state: FeedState): void;
  onDraft?(changed: DraftChanged): void;
  now(): number;
  chance(): number;
  sleep(ms: number): Promise<void>;
}

/** How long before its end an identity is renewed, in milliseconds. */
const RENEW_EARLY_MS = 60_000;
/** The longest pause between two looks at the log while the line does not open, in milliseconds. */
const POLL_MS = 3_000;

/**
 * Brings every event once and in order: catches up over HTTP at each connect
 * and at each gap, hears the rest on the bus, renews its identity with a second
 * connection, and connects again with growing pauses. Where the line does not
 * open, but HTTP works, it reads the log again and again instead.
 */
export class Feed {
  private readonly parts: FeedParts;
  private fold: Fold;
  private stopped = false;
  private catching: Promise<void> | undefined;
  private line: Line | undefined;

  /** Goes on after event `cursor`. */
  constructor(parts: FeedParts, cursor: number) {
    this.parts = parts;
    this.fold = startFold(cursor);
  }

  /** The last event that was brought. */
  get cursor(): number {
    return this.fold.cursor;
  }

  /** Runs until stopped, logged out, or given up before ever having been live. */
  async run(): Promise<void> {
    const began = this.parts.now();
    let everLive = false;
    let attempt = 0;
    this.parts.onState("connecting");
    while (!this.stopped) {
      try {
        await this.connect();
        everLive = true;
        attempt = 0;
        await this.whileLive();
      } catch (error) {
        if (error instanceof Refusal && error.problem.code === "unauthenticated") return this.end("logged_out");
      }
      if (this.stopped) return;
      const pause = backoff(attempt++, this.parts.chance());
      if (await this.reads()) {
        everLive = true;
        this.parts.onState("polling");
        await this.parts.sleep(Math.min(POLL_MS, pause));
        continue;
      }
      const patience = everLive ? Number.POSITIVE_INFINITY : PATIENCE_MS - (this.parts.now() - began);
      if (patience <= 0) return this.end("given_up");
      this.parts.onState(everLive ? "reconnecting" : "connecting");
      await this.parts.sleep(Math.min(patience, pause));
    }
  }

  stop(): void {
    this.stopped = true;
    this.hangUp(this.line);
  }

  private end(state: FeedState): void {
    this.stopped = true;
    this.parts.onState(state);
  }

  /** Reads what is new over HTTP; false when that does not work either. */
  private async reads(): Promise<boolean> {
    return this.catchUp().then(
      () => true,
      () => false,
    );
  }

  private async connect(): Promise<void> {
    const grant = await this.parts.credentials();
    const before = this.line;
    this.line = await this.parts.open(grant, {
      event: (event) => this.take([event]),
      live: (run, role, text) => this.parts.onLive(run, role, text),
      ...(this.parts.onDraft ? { draft: this.parts.onDraft } : {}),
    });
    this.renewAt = this.parts.now() + grant.lasts_ms - RENEW_EARLY_MS;
    this.hangUp(before);
    if (this.stopped) return this.hangUp(this.line);
    await this.catchUp();
    this.parts.onState("live");
  }

  private renewAt = 0;

  /** Returns once the line has ended; renews it in time until then. */
  private async whileLive(): Promise<void> {
    while (!this.stopped && this.line) {
      const line = this.line;
      const wait = Math.max(1000, this.renewAt - this.parts.now());
      const what = await Promise.race([
        line.ended.then(() => "ended" as const),
        this.parts.sleep(wait).then(() => "renew" as const),
      ]);
      if (what === "ended") {
        this.line = undefined;
        return;
      }
      if (!this.stopped) await this.connect();
    }
  }

  // The line may be gone already, which is what is wanted.
  private hangUp(line: Line | undefined): void {
    line?.drain().catch(() => undefined);
  }

  private take(events: readonly Event[]): void {
    const folded = take(this.fold, events);
    this.fold = folded.fold;
    if (folded.ready.length > 0) this.parts.onEvents(folded.ready);
    // Without what is missing the line is not live: it is opened again, until that was read.
    if (folded.gap) this.catchUp().catch(() => this.hangUp(this.line));
  }

  /** Reads what is missing over HTTP; one reader at a time. */
  private catchUp(): Promise<void> {
    this.catching ??= this.readOn().finally(() => {
      this.catching = undefined;
    });
    return this.catching;
  }

  private async readOn(): Promise<void> {
    for (;;) {
      const page = await this.parts.events(this.fold.cursor);
      const folded = take(this.fold, page.events);
      this.fold = folded.fold;
      if (folded.ready.length > 0) this.parts.onEvents(folded.ready);
      if (page.events.length === 0 || this.fold.cursor >= page.head) return;
    }
  }
}
