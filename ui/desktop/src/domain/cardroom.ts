import type { Rect } from "#base/domain/contracts.ts";
import type { Win } from "./windows";
import { onDesktop } from "./wmorder";
import { type Area, buttonsOf, covers, meet, placed } from "./wmplace";

/** Pixels that stay free between the cards and the buttons of a window. */
const GAP = 8;

/** The cards are moved aside rather than made lower than this. */
const LOWEST = 200;

/** Where the cards are when nothing is in their way: above the prompt, as wide as it. */
export interface Column {
  x: number;
  width: number;
  /** Their lower edge. */
  bottom: number;
}

/** How far the cards go aside, to the right when positive, and how high they may be. */
export interface Room {
  aside: number;
  height: number;
}

/** The buttons of title bars that people see: those of windows on the desktop, which no higher window covers. */
export function buttonsSeen(windows: Iterable<Win>, desktop: number, area: Area): Rect[] {
  const drawn = onDesktop(windows, desktop).flatMap((w) => placed(w, area) ?? []);
  return drawn
    .map((r) => buttonsOf(r, area))
    .filter((buttons, i) => !drawn.slice(i + 1).some((higher) => covers(higher, buttons)));
}

/**
 * The room for cards that hide no button of a title bar. They end below the lowest button in their column; where that
 * leaves too little of them they go aside, as little as is needed, and where no column has room they take the one that
 * has the most, but are at least so high that they can be read.
 */
export function roomForCards(column: Column, buttons: readonly Rect[], area: Area): Room {
  const furthest = area.width - column.width;
  const columns = [column.x, ...buttons.flatMap((b) => [b.x - GAP - column.width, b.x + b.width + GAP])]
    .filter((x) => x === column.x || (x >= 0 && x <= furthest))
    .sort((a, b) => Math.abs(a - column.x) - Math.abs(b - column.x));
  const rooms = columns.map((x) => ({ aside: x - column.x, height: heightAt(x, column, buttons) }));
  const most = rooms.reduce((a, b) => (b.height > a.height ? b : a));
  const found = rooms.find((r) => r.height >= LOWEST) ?? most;
  return { aside: found.aside, height: Math.max(LOWEST, found.height) };
}

/** The height of a column to the buttons that stand lowest in it. */
function heightAt(x: number, { width, bottom }: Column, buttons: readonly Rect[]): number {
  const whole = { x, y: 0, width, height: bottom };
  const met = buttons.filter((b) => meet(b, whole)).map((b) => b.y + b.height + GAP);
  return bottom - Math.max(0, ...met);
}
