import type { StateCreator } from "zustand";
import { type Line, withLine } from "#base/domain/spoken.ts";
import { type Route, readRoute } from "../domain/route";

/** The side panels, and on a narrow page the screens. */
export type Panel = "runs" | "main" | "work" | "timeline" | "events";

/** What the page shows. */
export interface ViewSlice {
  route: Route;
  /** The panel at the side; on a narrow page the one screen that is seen. */
  panel: Panel;
  launcher: boolean;
  /** What was said to those who hear the page. */
  announced: readonly Line[];
  /** The project prompts are about; empty for the whole workspace. */
  repo: string;
  setRoute(route: Route): void;
  setPanel(panel: Panel): void;
  setLauncher(open: boolean): void;
  setRepo(repo: string): void;
  announce(text: string): void;
}

export const viewSlice: StateCreator<ViewSlice> = (set) => ({
  route: readRoute(globalThis.location?.pathname ?? "/"),
  panel: "main",
  launcher: false,
  repo: "",
  announced: [],
  setRoute: (route) => set({ route }),
  setPanel: (panel) => set({ panel }),
  setLauncher: (launcher) => set({ launcher }),
  setRepo: (repo) => set({ repo }),
  announce: (text) => set((s) => ({ announced: withLine(s.announced, text) })),
});
