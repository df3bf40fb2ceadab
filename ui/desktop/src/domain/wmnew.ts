import type { Rect } from "#base/domain/contracts.ts";
import { type Area, BAR, buttonsOf, meet } from "./wmplace";

/** Pixels by which a new window lies beside the one that has the focus; below it, it leaves the title bar free. */
const STEP = 32;

/** Corners of two windows at most so far apart look like one window. */
const NEAR = 16;

/** A new window becomes lower for the sake of the title bar below it, but not lower than this. */
const LOWEST = 240;

interface Size {
  width: number;
  height: number;
}

/** What is on the desktop already, as it is drawn. */
export interface There {
  /** The window that has the focus. */
  focused?: Rect | undefined;
  /** It is not maximised or snapped: the new window goes a step beside it. */
  steps?: boolean;
  /** The others that are seen. */
  others: readonly Rect[];
}

/**
 * Where a new window goes: a step from the one that has the focus, never outside of the page. It leaves the title bar
 * of that one free and lies exactly over no other; where a step does not allow that, it goes to the place where it
 * covers the least buttons of other windows, nearest to the middle. Where no place leaves the title bar free, the new
 * window becomes lower, and only on a page that has no room for that either it covers the title bar.
 */
export function placeOfNew(wanted: Size, { focused, steps = false, others }: There, area: Area): Rect {
  const size = { width: Math.min(wanted.width, area.width), height: Math.min(wanted.height, area.height) };
  const bar = focused && { ...focused, height: BAR };
  const seen = focused ? [...others, focused] : others;
  const isGood = (r: Rect) => isWithin(r, area) && !(bar && meet(r, bar)) && !seen.some((o) => isOver(r, o));
  const first = { ...(focused && steps ? { x: focused.x + STEP, y: focused.y + BAR } : middleOf(size, area)), ...size };
  if (isGood(first)) return first;
  const below = focused ? area.height - focused.y - BAR : 0;
  const lower = below < size.height && below >= LOWEST ? [{ width: size.width, height: below }] : [];
  for (const one of [size, ...lower]) {
    const best = bestOf(placesFor(one, focused, area).filter(isGood), others, area);
    if (best) return best;
  }
  const apart = placesFor(size, focused, area).filter((r) => isWithin(r, area) && !seen.some((o) => isOver(r, o)));
  return bestOf(apart, others, area) ?? { ...middleOf(size, area), ...size };
}

function middleOf({ width, height }: Size, area: Area): { x: number; y: number } {
  return {
    x: Math.round((area.width - width) / 2),
    y: Math.max(0, Math.round((area.height - height) / 2.6)),
  };
}

function isWithin(r: Rect, area: Area): boolean {
  return r.x >= 0 && r.y >= 0 && r.x + r.width <= area.width && r.y + r.height <= area.height;
}

/** Whether a window would hide another, or look like it. */
function isOver(r: Rect, other: Rect): boolean {
  return Math.abs(r.x - other.x) < NEAR && Math.abs(r.y - other.y) < NEAR;
}

/** A grid of places all over the page, and those right beside the window that has the focus. */
function placesFor(size: Size, focused: Rect | undefined, area: Area): Rect[] {
  const middle = middleOf(size, area);
  const xs = new Set([middle.x, area.width - size.width, ...stepsTo(area.width - size.width, STEP)]);
  const ys = new Set([middle.y, area.height - size.height, ...stepsTo(area.height - size.height, BAR)]);
  if (focused) {
    xs.add(focused.x - size.width).add(focused.x + focused.width);
    ys.add(focused.y - size.height).add(focused.y + BAR);
  }
  return [...ys].flatMap((y) => [...xs].map((x) => ({ x, y, ...size })));
}

function stepsTo(end: number, step: number): number[] {
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, i) => i * step);
}

/** The place that covers the buttons of the fewest windows, and of those the one nearest to the middle. */
function bestOf(places: readonly Rect[], others: readonly Rect[], area: Area): Rect | undefined {
  const buttons = others.map((o) => buttonsOf(o, area));
  let best: Rect | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const place of places) {
    const middle = middleOf(place, area);
    const far = Math.abs(place.x - middle.x) + Math.abs(place.y - middle.y);
    const cost = buttons.filter((b) => meet(place, b)).length * 10_000 + far;
    if (cost >= least) continue;
    best = place;
    least = cost;
  }
  return best;
}
