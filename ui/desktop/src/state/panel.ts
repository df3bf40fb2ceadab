import type { StateCreator } from "zustand";
import type { ID, Rect } from "#base/domain/contracts.ts";
import { type Line, withLine } from "#base/domain/spoken.ts";

/** What a window would lose: text that is typed in it and saved nowhere but as a draft. */
export interface Unsaved {
  name: string;
  /** Saves it; false when it could not be saved, which the window says. */
  save(): Promise<boolean>;
  /** Lets go of it for good. */
  discard(): void;
}

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
  announced: readonly Line[];
  /** The windows with text that is not saved. */
  unsaved: ReadonlyMap<ID, Unsaved>;
  /** The window that is to be closed once the person has said what becomes of its text. */
  closing: ID | undefined;
  setUnsaved(window: ID, unsaved: Unsaved | undefined): void;
  setClosing(window: ID | undefined): void;
  setByKeys(byKeys: PanelSlice["byKeys"]): void;
  want(window: ID | null | undefined): void;
  setPanel(panel: Panel): void;
  setPreview(preview: Rect | undefined): void;
  announce(text: string): void;
}

export const panelSlice: StateCreator<PanelSlice> = (set) => ({
  panel: undefined,
  preview: undefined,
  announced: [],
  unsaved: new Map(),
  closing: undefined,
  setUnsaved: (window, unsaved) =>
    set((s) => {
      const next = new Map(s.unsaved);
      if (unsaved) next.set(window, unsaved);
      else next.delete(window);
      return { unsaved: next };
    }),
  setClosing: (closing) => set({ closing }),
  byKeys: undefined,
  setByKeys: (byKeys) => set({ byKeys }),
  wanted: undefined,
  want: (wanted) => set({ wanted }),
  setPanel: (panel) => set({ panel }),
  setPreview: (preview) => set({ preview }),
  announce: (text) => set((s) => ({ announced: withLine(s.announced, text) })),
});
