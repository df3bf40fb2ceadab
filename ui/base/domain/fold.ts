import type { Event } from "./contracts";

/** What has been put in order so far. */
export interface Fold {
  /** Sequence number of the last event handed on. */
  cursor: number;
  /** Events that came too early, by sequence number. */
  early: ReadonlyMap<number, Event>;
}

/** What one step of putting in order gives. */
export interface Folded {
  fold: Fold;
  /** Events that are next, in order, each exactly once. */
  ready: Event[];
  /** Something is missing between the cursor and what waits. */
  gap: boolean;
}

/** A fold that goes on after event `cursor`. */
export function startFold(cursor: number): Fold {
  return { cursor, early: new Map() };
}

/** Puts events in order: duplicates are dropped, early ones wait. */
export function take(fold: Fold, events: readonly Event[]): Folded {
  const early = new Map(fold.early);
  for (const event of events) {
    if (event.seq > fold.cursor) early.set(event.seq, event);
  }
  const ready: Event[] = [];
  let cursor = fold.cursor;
  for (let next = early.get(cursor + 1); next; next = early.get(cursor + 1)) {
    early.delete(next.seq);
    ready.push(next);
    cursor = next.seq;
  }
  return { fold: { cursor, early }, ready, gap: early.size > 0 };
}
