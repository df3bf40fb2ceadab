import { create } from "zustand";
import { followLanguage, speak, spoken } from "#base/domain/language.ts";
import { sayProblemsIn } from "#base/domain/problem.ts";
import { type CardsSlice, cardsSlice } from "./cards";
import { type ComputerSlice, computerSlice } from "./computer";
import { type LookSlice, lookSlice } from "./look";
import { type PanelSlice, panelSlice } from "./panel";
import { type WindowsSlice, windowsSlice } from "./windows";

/** All that the page knows. It lives as long as the page: the server owns the state. */
export type State = CardsSlice & ComputerSlice & LookSlice & PanelSlice & WindowsSlice;

export const useStore = create<State>()((...a) => ({
  ...cardsSlice(...a),
  ...computerSlice(...a),
  ...lookSlice(...a),
  ...panelSlice(...a),
  ...windowsSlice(...a),
}));

// The sentences of problems come after the first change to their language.
followLanguage(() => {
  sayProblemsIn(spoken()).catch(() => undefined);
});

// Parts of both pages speak the language of the store.
speak(useStore.getState().language);
useStore.subscribe((now) => speak(now.language));
