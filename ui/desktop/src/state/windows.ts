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
  /** The newest event of those that it has; what is here stands until that is known. */
  until: number;
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
  /** What the server said of one window after event `seq`. */
  learnWindow(win: Win, seq: number): void;
  /** The server answered a change that went ahead with its event; 0 when nothing was different. */
  settle(id: ID, seq: number): void;
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

/** What is ahead once one change of a window less waits; the answer to it was event `seq`. */
function less({ known, ahead }: Shown, id: ID, seq: number): Shown {
  const there = ahead.get(id);
  if (!there) return { known, ahead };
  const now = { ...there, waiting: there.waiting - 1, until: Math.max(there.until, seq) };
  return { known, ahead: reached(known, new Map(ahead).set(id, now)) };
}

/** What is ahead without the windows that are known up to the last change here, when all up to event `seq` is known. */
function reached(known: Known, ahead: ReadonlyMap<ID, Ahead>, seq = 0): ReadonlyMap<ID, Ahead> {
  const left = [...ahead].filter(([id, a]) => a.waiting > 0 || a.until > Math.max(seq, known.get(id)?.seq ?? 0));
  return left.length === ahead.size ? ahead : new Map(left);
}

export const windowsSlice: StateCreator<WindowsSlice> = (set) => ({
  known: new Map(),
  ahead: new Map(),
  windows: [],
  area: { width: 1280, height: 720 },
  setArea: (area) => set({ area }),
  setKnown: (windows, seq) =>
    set((s) => {
      const known = knownFrom(windows, seq, s.known);
      return withShown({ known, ahead: reached(known, s.ahead, seq) });
    }),
  forget: () => set({ known: new Map(), ahead: new Map(), windows: [] }),
  hearWindow: (event) =>
    set((s) => {
      const known = reduceWindows(s.known, event);
      return withShown({ known, ahead: reached(known, s.ahead) });
    }),
  goAhead: (id, win) =>
    set((s) => {
      const { waiting, until } = s.ahead.get(id) ?? { waiting: 0, until: 0 };
      return withShown({ known: s.known, ahead: new Map(s.ahead).set(id, { win, waiting: waiting + 1, until }) });
    }),
  learnWindow: (win, seq) => set((s) => withShown({ known: learn(s.known, win.id, win, seq), ahead: s.ahead })),
  settle: (id, seq) => set((s) => withShown(less(s, id, seq))),
  letGo: (id) => set((s) => withShown(less(s, id, 0))),
});
