import type { StateCreator } from "zustand";
import type { Computer } from "#base/domain/views.ts";
import type { FeedState } from "#base/transport/feed.ts";

/** The computer and how well it is reached. */
export interface ComputerSlice {
  computer: Computer | undefined;
  connection: FeedState;
  setComputer(computer: Computer): void;
  setConnection(connection: FeedState): void;
}

export const computerSlice: StateCreator<ComputerSlice> = (set) => ({
  computer: undefined,
  connection: "connecting",
  setComputer: (computer) => set({ computer }),
  setConnection: (connection) => set({ connection }),
});
