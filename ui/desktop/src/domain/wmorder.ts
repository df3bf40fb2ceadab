import type { Rect } from "#base/domain/contracts.ts";
import { stacked, type Win } from "./windows";

/** Windows of one virtual desktop, the lowest first. */
export function onDesktop(windows: Iterable<Win>, desktop: number): Win[] {
  return stacked(windows).filter((w) => (w.desktop ?? 0) === desktop);
}

/** The window that has the focus: the top one of a desktop that is not minimised. */
export function focusedOf(windows: Iterable<Win>, desktop: number): Win | undefined {
  return onDesktop(windows, desktop).findLast((w) => w.state !== "minimised");
}

/** The window that gets the focus once this one is gone. */
export function nextAfter(windows: Iterable<Win>, gone: string, desktop: number): Win | undefined {
  return focusedOf(
    [...windows].filter((w) => w.id !== gone),
    desktop,
  );
}

/** The window that going round by keyboard comes to, in the order they were opened. */
export function roundFrom(windows: Iterable<Win>, desktop: number, step: 1 | -1): Win | undefined {
  const row = onDesktop(windows, desktop).sort((a, b) => (a.id < b.id ? -1 : 1));
  const focused = focusedOf(row, desktop);
  if (row.length === 0) return undefined;
  const at = focused ? row.findIndex((w) => w.id === focused.id) : step === 1 ? -1 : 0;
  return row[(at + step + row.length) % row.length];
}

/** The neighbour of a cell in a direction: the nearest one that lies that way. */
export function neighbour(cells: readonly Rect[], at: number, way: "left" | "right" | "up" | "down"): number {
  const here = cells[at];
  if (!here) return at;
  const middle = (r: Rect) => ({ x: r.x + r.width / 2, y: r.y + r.height / 2 });
  const from = middle(here);
  let best = at;
  let least = Number.POSITIVE_INFINITY;
  for (const [i, cell] of cells.entries()) {
    const to = middle(cell);
    const along =
      way === "left" ? from.x - to.x : way === "right" ? to.x - from.x : way === "up" ? from.y - to.y : to.y - from.y;
    const across = way === "left" || way === "right" ? Math.abs(to.y - from.y) : Math.abs(to.x - from.x);
    const far = along + across * 3;
    if (i !== at && along > 1 && far < least) {
      best = i;
      least = far;
    }
  }
  return best;
}
