import type { StateCreator } from "zustand";
import type { Event, ID } from "#base/domain/contracts.ts";
import { listRuns } from "#base/domain/runs.ts";
import type { Computer, Run } from "#base/domain/views.ts";
import type { FeedState } from "#base/transport/feed.ts";
import { type Progress, withLine } from "../domain/progress";
import type { State } from "./store";

/** The computer, how well it is reached, its runs and what they say. */
export interface ComputerSlice {
  computer: Computer | undefined;
  connection: FeedState;
  /** The newest first. */
  runs: readonly Run[];
  /** What runs said lately, the newest last. */
  progress: readonly Progress[];
  setComputer(computer: Computer): void;
  setConnection(connection: FeedState): void;
  setRuns(runs: readonly Run[]): void;
  hear(events: readonly Event[]): void;
  say(line: Progress): void;
  unsay(id: ID): void;
}

export const computerSlice: StateCreator<State, [], [], ComputerSlice> = (set) => ({
  computer: undefined,
  connection: "connecting",
  runs: [],
  progress: [],
  setComputer: (computer) => set({ computer }),
  setConnection: (connection) => set({ connection }),
  setRuns: (runs) => set({ runs }),
  hear: (events) => set((s) => ({ runs: events.reduce(listRuns, s.runs) })),
  say: (line) => set((s) => ({ progress: withLine(s.progress, line) })),
  unsay: (id) => set((s) => ({ progress: s.progress.filter((p) => p.id !== id) })),
});
