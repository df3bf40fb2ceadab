import type { StateCreator } from "zustand";
import type { Source } from "../domain/source";

/** How the desktop's frame is: silent when its page never said that it is ready. */
export type FrameState = "opening" | "ready" | "silent";

/** The frame with the desktop in it. */
export interface FrameSlice {
  frame: FrameState;
  /** How often the frame was asked to begin anew. */
  openings: number;
  /** How often the desktop was given the keys. */
  keysGiven: number;
  /** What the desktop's origin serves, as far as it is known. */
  source: Source | undefined;
  /** What was being typed in the desktop, for the page that comes after. */
  draft: string;
  /** An address outside that somebody wants to open; one at a time, so that none takes another's place under a click. */
  link: string | undefined;
  setFrame(frame: FrameState): void;
  setDraft(draft: string): void;
  setSource(source: Source): void;
  reopen(): void;
  giveKeys(): void;
  askLink(address: string): void;
  forgetLink(): void;
}

export const frameSlice: StateCreator<FrameSlice> = (set) => ({
  frame: "opening",
  openings: 0,
  keysGiven: 0,
  source: undefined,
  draft: "",
  link: undefined,
  setFrame: (frame) => set({ frame }),
  setDraft: (draft) => set({ draft }),
  setSource: (source) => set({ source }),
  reopen: () => set((s) => ({ frame: "opening", openings: s.openings + 1 })),
  giveKeys: () => set((s) => ({ keysGiven: s.keysGiven + 1 })),
  askLink: (address) => set((s) => ({ link: s.link ?? address })),
  forgetLink: () => set({ link: undefined }),
});
