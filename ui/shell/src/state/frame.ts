import type { StateCreator } from "zustand";
import type { State } from "./store";

/** How the desktop's frame is: silent when its page never said that it is ready. */
export type FrameState = "opening" | "ready" | "silent";

/** The frame with the desktop in it. */
export interface FrameSlice {
  frame: FrameState;
  /** How often the frame was asked to begin anew. */
  openings: number;
  setFrame(frame: FrameState): void;
  reopen(): void;
}

export const frameSlice: StateCreator<State, [], [], FrameSlice> = (set) => ({
  frame: "opening",
  openings: 0,
  setFrame: (frame) => set({ frame }),
  reopen: () => set((s) => ({ frame: "opening", openings: s.openings + 1 })),
});
