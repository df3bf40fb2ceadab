import type { EventType } from "#base/domain/contracts.ts";
import { tellsOfMark } from "#base/domain/telling.ts";
import type { Mark, TimelinePage } from "#base/domain/views.ts";

/** Marks read at once when looking back, and when something happened. */
const PAGE = 500;
const NEWEST = 50;

/** How long the end of the timeline may be out of date, in milliseconds. */
const LAG_MS = 300;

/** What reading the timeline needs of the world. */
export interface MarksParts {
  read(limit: number, before: number): Promise<TimelinePage>;
  known(): { marks: readonly Mark[]; more: boolean };
  /** `newest` says that nothing comes after what was read. */
  add(read: readonly Mark[], head: number, more: boolean, newest: boolean): void;
  sleep(ms: number): Promise<void>;
}

/** Reads the timeline page by page and keeps its end up to date. */
export class MarksReader {
  private readonly parts: MarksParts;
  private reading: Promise<void> | undefined;
  private stale = false;
  private begun = false;

  constructor(parts: MarksParts) {
    this.parts = parts;
  }

  /** Reads the newest page, once. */
  async begin(): Promise<void> {
    if (this.begun) return;
    this.begun = true;
    try {
      await this.one(() => this.readNewest(PAGE));
    } catch (error) {
      this.begun = false;
      throw error;
    }
  }

  /** Reads the page before what is here. */
  earlier(): Promise<void> {
    return this.one(async () => {
      const { marks, more } = this.parts.known();
      const first = marks[0];
      if (!first || !more) return;
      const page = await this.parts.read(PAGE, first.seq);
      this.parts.add(page.marks, page.head, page.marks.length === PAGE, false);
    });
  }

  /** Something happened: what it means for the timeline is read soon, at most once at a time. */
  hear(type: EventType): void {
    if (!this.begun || !tellsOfMark(type) || this.stale) return;
    this.stale = true;
    this.parts
      .sleep(LAG_MS)
      .then(() => {
        this.stale = false;
        return this.one(() => this.readNewest(NEWEST));
      })
      // What cannot be read now is read with the next event.
      .catch(() => undefined);
  }

  // After a long absence more than one page is new.
  private async readNewest(limit: number): Promise<void> {
    const { marks, more } = this.parts.known();
    const last = marks.at(-1)?.seq ?? 0;
    for (let before = 0; ; ) {
      const page = await this.parts.read(limit, before);
      const oldest = page.marks.at(-1)?.seq ?? 0;
      const whole = page.marks.length < limit;
      const met = last > 0 && (whole || oldest <= last);
      this.parts.add(page.marks, page.head, met ? more : !whole, before === 0);
      if (met || whole || last === 0) return;
      before = oldest;
    }
  }

  private one(read: () => Promise<void>): Promise<void> {
    const after = (this.reading ?? Promise.resolve()).then(read, read);
    this.reading = after.catch(() => undefined);
    return after;
  }
}
