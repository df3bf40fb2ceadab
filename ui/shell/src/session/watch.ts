import { unawaited } from "#base/kit/unawaited.ts";
import { outdated, type Source } from "../domain/source";

/** When to look after a change, in milliseconds: a browser asks for the broken file a little later. */
const LOOKS_MS = [50, 700, 2_500];

/** What a watch needs of the page around it. */
export interface SourceParts {
  read(): Promise<Source>;
  tell(source: Source): void;
  /** Opens the desktop again: it comes from elsewhere now. */
  reopen(): void;
}

/** Follows how the desktop is served, and moves the page over when that changes. */
export class SourceWatch {
  private readonly parts: SourceParts;
  private shown: Source | undefined;
  private timers: ReturnType<typeof setTimeout>[] = [];

  constructor(parts: SourceParts) {
    this.parts = parts;
  }

  /** A page is about to be opened: it comes from `source`, or from what is served later. */
  opening(source: Source | undefined): void {
    this.stop();
    this.shown = source;
  }

  /** The page was opened; what it comes from may have changed since it was read. */
  opened(): void {
    this.touched();
  }

  /** The source may have changed. */
  touched(): void {
    this.stop();
    this.timers = LOOKS_MS.map((ms) => setTimeout(() => unawaited(this.look()), ms));
  }

  stop(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers = [];
  }

  private async look(): Promise<void> {
    let now: Source;
    try {
      now = await this.parts.read();
    } catch {
      return; // the feed says when the computer cannot be reached
    }
    const other = outdated(this.shown, now);
    this.shown = now;
    this.parts.tell(now);
    if (other) this.parts.reopen();
  }
}
