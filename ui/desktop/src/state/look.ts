import type { StateCreator } from "zustand";
import type { Event, ThemeChanged } from "#base/domain/contracts.ts";
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
  /** An event changed the theme or a setting, or something else. */
  hearLook(event: Event): void;
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

function withSetting(settings: ReadonlyMap<string, string>, key: string, value: string) {
  const next = new Map(settings);
  if (value) next.set(key, value);
  else next.delete(key);
  return next;
}

/** What an event changes of theme and settings. */
function lookAfter({ settings }: Pick<LookSlice, "settings">, event: Event): Partial<LookSlice> {
  if (event.type === "theme.changed") return { theme: event.payload };
  if (event.type === "setting.changed")
    return read(withSetting(settings, event.payload.key, event.payload.value ?? ""));
  return {};
}

export const lookSlice: StateCreator<LookSlice> = (set) => ({
  theme: undefined,
  ...read(new Map()),
  setTheme: (theme) => set({ theme }),
  setSettings: (settings) => set(read(new Map(settings.map((s) => [s.key, s.value ?? ""])))),
  setSetting: (key, value) => set((s) => read(withSetting(s.settings, key, value))),
  hearLook: (event) => set((s) => lookAfter(s, event)),
});
