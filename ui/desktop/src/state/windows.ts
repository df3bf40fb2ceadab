import type { StateCreator } from "zustand";
import type { Event, ID } from "#base/domain/contracts.ts";
import { type Known, knownFrom, learn, reduceWindows, stacked, type Win } from "../domain/windows";
import type { Area } from "../domain/wmplace";

/** A window as it is here before the server knows. */
interface Ahead {
  /** Undefined once it is closed. */
  win: Win | undefined;
  /** Changes that the server has not answered. */
  waiting: number;
}

/** The windows: what the server said, and what is ahead of it. */
export interface WindowsSlice {
  known: Known;
  ahead: ReadonlyMap<ID, Ahead>;
  /** What is shown, the lowest first. */
  windows: readonly Win[];
  area: Area;
  setArea(area: Area): void;
  setKnown(windows: readonly Win[], seq: number): void;
  /** Nothing is known of any window. */
  forget(): void;
  hearWindow(event: Event): void;
  /** Changes a window here, before the server answers; undefined closes it. */
  goAhead(id: ID, win: Win | undefined): void;
  /** The server answered a change that went ahead. */
  settle(id: ID, win: Win | undefined, seq: number): void;
  /** A change that went ahead will not come to be, or was one of several. */
  letGo(id: ID): void;
}

type Shown = Pick<WindowsSlice, "known" | "ahead">;

/** What is shown of what is known and what went ahead. */
export function shownOf({ known, ahead }: Shown): Win[] {
  const windows = [...known.values()].flatMap(({ win }) => {
    const here = win && ahead.get(win.id);
    return (here ? here.win : win) ?? [];
  });
  return stacked(windows);
}

function withShown(next: Shown) {
  return { ...next, windows: shownOf(next) };
}

function less(ahead: ReadonlyMap<ID, Ahead>, id: ID): ReadonlyMap<ID, Ahead> {
  const there = ahead.get(id);
  if (!there) return ahead;
  const next = new Map(ahead);
  if (there.waiting > 1) next.set(id, { ...there, waiting: there.waiting - 1 });
  else next.delete(id);
  return next;
}

export const windowsSlice: StateCreator<WindowsSlice> = (set) => ({
  known: new Map(),
  ahead: new Map(),
  windows: [],
  area: { width: 1280, height: 720 },
  setArea: (area) => set({ area }),
  setKnown: (windows, seq) => set((s) => withShown({ known: knownFrom(windows, seq, s.known), ahead: s.ahead })),
  forget: () => set({ known: new Map(), ahead: new Map(), windows: [] }),
  hearWindow: (event) => set((s) => withShown({ known: reduceWindows(s.known, event), ahead: s.ahead })),
  goAhead: (id, win) =>
    set((s) => {
      const waiting = (s.ahead.get(id)?.waiting ?? 0) + 1;
      return withShown({ known: s.known, ahead: new Map(s.ahead).set(id, { win, waiting }) });
    }),
  settle: (id, win, seq) => set((s) => withShown({ known: learn(s.known, id, win, seq), ahead: less(s.ahead, id) })),
  letGo: (id) => set((s) => withShown({ known: s.known, ahead: less(s.ahead, id) })),
});
