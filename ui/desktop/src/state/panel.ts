import type { StateCreator } from "zustand";
import type { ID, Rect } from "#base/domain/contracts.ts";
import type { State } from "./store";

/** What lies over the windows. */
export type Panel = "launcher" | "overview" | "keys" | undefined;

/** What only this page knows. */
export interface PanelSlice {
  panel: Panel;
  /** Where the dragged window would go. */
  preview: Rect | undefined;
  /** The window that arrow keys move or resize. */
  byKeys: { window: ID; how: "move" | "resize" } | undefined;
  /** The window that is to get the keyboard once it is drawn; null for the prompt. */
  wanted: ID | null | undefined;
  /** What is said to those who hear the page. */
  announced: string;
  setByKeys(byKeys: PanelSlice["byKeys"]): void;
  want(window: ID | null | undefined): void;
  setPanel(panel: Panel): void;
  setPreview(preview: Rect | undefined): void;
  announce(text: string): void;
}

export const panelSlice: StateCreator<State, [], [], PanelSlice> = (set) => ({
  panel: undefined,
  preview: undefined,
  announced: "",
  byKeys: undefined,
  setByKeys: (byKeys) => set({ byKeys }),
  wanted: undefined,
  want: (wanted) => set({ wanted }),
  setPanel: (panel) => set({ panel }),
  setPreview: (preview) => set({ preview }),
  announce: (announced) => set({ announced }),
});
