import { backoff } from "#base/domain/backoff.ts";
import type { ID } from "#base/domain/contracts.ts";
import { Refusal } from "#base/domain/problem.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import type { Changed } from "../transport/desk";

/** One change of a window, on its way to the server. */
export interface Change {
  window: ID;
  /** Changes of one name that wait are one: the last counts. */
  name: string;
  send(): Promise<Changed>;
}

/** What becomes of the changes. */
export interface Outcome {
  /** The event that a change made; 0 when it made none. */
  settled(id: ID, seq: number): void;
  /** A later change of the same name took its place, or it was refused. */
  dropped(id: ID, error?: unknown): void;
  sleep(ms: number): Promise<void>;
}

/** Sends changes one after the other, and again while the server cannot be reached. */
export class Sender {
  private readonly outcome: Outcome;
  private waiting: Change[] = [];
  private busy = false;

  constructor(outcome: Outcome) {
    this.outcome = outcome;
  }

  put(change: Change): void {
    const last = this.waiting.at(-1);
    if (last && last.window === change.window && last.name === change.name) {
      this.waiting[this.waiting.length - 1] = change;
      this.outcome.dropped(last.window);
    } else this.waiting.push(change);
    if (!this.busy) unawaited(this.run());
  }

  private async run(): Promise<void> {
    this.busy = true;
    for (let next = this.waiting.shift(); next; next = this.waiting.shift()) await this.send(next);
    this.busy = false;
  }

  private async send(change: Change): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        const { seq } = await change.send();
        this.outcome.settled(change.window, seq);
        return;
      } catch (error) {
        const pause = pauseOf(error, attempt);
        if (pause === undefined) {
          this.outcome.dropped(change.window, error);
          return;
        }
        await this.outcome.sleep(pause);
      }
    }
  }
}

/** How long to wait before it is tried again; undefined for a refusal that stays one. */
function pauseOf(error: unknown, attempt: number): number | undefined {
  if (!(error instanceof Refusal)) return undefined;
  if (error.problem.code === "rate_limited") return (error.retryAfter ?? 1) * 1000;
  return error.problem.status === 0 ? backoff(attempt, 0) : undefined;
}
