import type { StateCreator } from "zustand";
import type { Event } from "#base/domain/contracts.ts";
import { listRuns } from "#base/domain/runs.ts";
import type { Run } from "#base/domain/views.ts";
import type { StoriesSlice } from "./stories";

/** Events kept in the page; older ones are read again when asked for. */
const KEPT = 3000;

/** The log as far as it is here, and the runs it tells of. */
export interface EventsSlice {
  /** In order, without gaps. */
  events: readonly Event[];
  runs: readonly Run[];
  /** Keys the Director is known to have signed with. */
  keys: readonly string[];
  setRuns(runs: readonly Run[]): void;
  addKeys(keys: readonly string[]): void;
  /** New events, in order. */
  append(events: readonly Event[]): void;
  /** Events before those that are here, in order. */
  prepend(events: readonly Event[]): void;
}

export const eventsSlice: StateCreator<EventsSlice & StoriesSlice, [], [], EventsSlice> = (set, get) => ({
  events: [],
  runs: [],
  keys: [],
  setRuns: (runs) => set({ runs }),
  addKeys: (keys) => set((s) => ({ keys: [...new Set([...s.keys, ...keys])] })),
  append: (events) => {
    set((s) => ({ events: [...s.events, ...events].slice(-KEPT), runs: events.reduce(listRuns, s.runs) }));
    get().addKeys(keysIn(events));
    get().tellStories(events);
  },
  prepend: (events) => {
    const first = get().events[0]?.seq ?? Number.POSITIVE_INFINITY;
    set((s) => ({ events: [...events.filter((e) => e.seq < first), ...s.events] }));
    get().addKeys(keysIn(events));
  },
});

/** The keys the Director made, as its sandboxes told. */
export function keysIn(events: readonly Event[]): string[] {
  return events.flatMap((e) => (e.type === "sandbox.started" && e.payload.public_key ? [e.payload.public_key] : []));
}
