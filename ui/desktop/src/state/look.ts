import type { StateCreator } from "zustand";
import type { ThemeChanged } from "#base/domain/contracts.ts";
import { type Language, languageOf } from "../domain/language";

/** The theme and the settings, as the server keeps them. */
export interface LookSlice {
  theme: ThemeChanged | undefined;
  settings: ReadonlyMap<string, string>;
  language: Language;
  /** The virtual desktop that is shown, and how many there are. */
  desktop: number;
  desktops: number;
  setTheme(theme: ThemeChanged | undefined): void;
  setSettings(settings: readonly { key: string; value?: string }[]): void;
  setSetting(key: string, value: string): void;
}

/** Virtual desktops at most; the server takes 32. */
export const MAX_DESKTOPS = 8;

function read(settings: ReadonlyMap<string, string>) {
  const number = (key: string, low: number, high: number, absent: number) => {
    const n = Number.parseInt(settings.get(key) ?? "", 10);
    return Number.isNaN(n) ? absent : Math.max(low, Math.min(high, n));
  };
  const desktops = number("desktop.count", 1, MAX_DESKTOPS, 4);
  return {
    settings,
    desktops,
    desktop: number("desktop.current", 0, desktops - 1, 0),
    language: languageOf(settings.get("language") ?? "", globalThis.navigator?.languages ?? []),
  };
}

export const lookSlice: StateCreator<LookSlice> = (set) => ({
  theme: undefined,
  ...read(new Map()),
  setTheme: (theme) => set({ theme }),
  setSettings: (settings) => set(read(new Map(settings.map((s) => [s.key, s.value ?? ""])))),
  setSetting: (key, value) =>
    set((s) => {
      const next = new Map(s.settings);
      if (value) next.set(key, value);
      else next.delete(key);
      return read(next);
    }),
});
