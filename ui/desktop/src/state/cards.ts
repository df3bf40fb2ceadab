import type { StateCreator } from "zustand";
import type { ID } from "#base/domain/contracts.ts";
import type { Story } from "#base/domain/story.ts";

/** Words that are to stand in the prompt. */
export interface Words {
  text: string;
  repo: string;
  /** Also over what stands there already. */
  over: boolean;
}

/** The cards of runs: what is known of each run, and which were folded or unfolded by hand in this page. */
export interface CardsSlice {
  stories: Readonly<Record<ID, Story>>;
  unfolded: Readonly<Record<ID, boolean>>;
  /** Undefined once the prompt has them. */
  words: Words | undefined;
  /** What stands in the prompt. */
  typed: string;
  /** The project that prompts are about; empty for the whole workspace. */
  repo: string;
  setStory(run: ID, story: Story): void;
  /** Shows all of a card, or only its line. */
  unfold(run: ID, unfolded: boolean): void;
  putWords(words: Words | undefined): void;
  setTyped(text: string): void;
  setRepo(repo: string): void;
}

export const cardsSlice: StateCreator<CardsSlice> = (set) => ({
  stories: {},
  unfolded: {},
  words: undefined,
  typed: "",
  repo: "",
  setStory: (run, story) => set((s) => ({ stories: { ...s.stories, [run]: story } })),
  unfold: (run, unfolded) => set((s) => ({ unfolded: { ...s.unfolded, [run]: unfolded } })),
  putWords: (words) => set({ words }),
  setTyped: (typed) => set({ typed }),
  setRepo: (repo) => set({ repo }),
});
