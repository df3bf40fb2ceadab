import type { StateCreator } from "zustand";
import type { Event } from "#base/domain/contracts.ts";
import { listRuns, undoneAsRead } from "#base/domain/runs.ts";
import type { Computer, Run } from "#base/domain/views.ts";
import type { FeedState } from "#base/transport/feed.ts";

/** The computer, how well it is reached, and its runs. */
export interface ComputerSlice {
  computer: Computer | undefined;
  connection: FeedState;
  /** The newest first. */
  runs: readonly Run[];
  setComputer(computer: Computer): void;
  setConnection(connection: FeedState): void;
  setRuns(runs: readonly Run[]): void;
  /** Takes over which runs are undone from a list that was read after an event. */
  setUndone(read: readonly Run[], since: number): void;
  hear(events: readonly Event[]): void;
}

export const computerSlice: StateCreator<ComputerSlice> = (set) => ({
  computer: undefined,
  connection: "connecting",
  runs: [],
  setComputer: (computer) => set({ computer }),
  setConnection: (connection) => set({ connection }),
  setRuns: (runs) => set({ runs }),
  setUndone: (read, since) => set((s) => ({ runs: undoneAsRead(s.runs, read, since) })),
  hear: (events) => set((s) => ({ runs: events.reduce(listRuns, s.runs) })),
});
