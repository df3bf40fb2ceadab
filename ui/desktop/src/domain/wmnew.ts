import type { Rect } from "#base/domain/contracts.ts";
import { type Area, BAR, buttonsOf, covers, meet } from "./wmplace";

/** Pixels by which a new window lies beside the one that has the focus; below it, it leaves the title bar free. */
const STEP = 32;

/** Corners of two windows at most so far apart look like one window. */
const NEAR = 16;

type Size = Pick<Rect, "width" | "height">;
type Point = Pick<Rect, "x" | "y">;

/** A window that is seen, and the buttons of its title bar. */
interface Seen extends Rect {
  buttons: Rect;
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
 * Where a new window goes: wholly on the page, to the place where it covers the fewest buttons of other windows, and
 * of those the one where it covers the least of the windows. Where none is better, it goes a step from the window that
 * has the focus. It leaves the title bar of that one free and lies exactly over no other. Where no place leaves the
 * title bar free, a new window that is as high as the page becomes lower by a title bar. Every other one keeps its size
 * and covers the title bar: the last of many windows is as high as the first.
 */
export function placeOfNew(wanted: Size, { focused, steps = false, others }: There, area: Area): Rect {
  const size = { width: Math.min(wanted.width, area.width), height: Math.min(wanted.height, area.height) };
  const bar = focused && { ...focused, height: BAR };
  const drawn = focused ? [...others.filter((o) => !covers(focused, o)), focused] : others;
  const seen = drawn.map((o) => ({ ...o, buttons: buttonsOf(o, area) }));
  const isApart = (r: Rect) =>
    isWithin(r, area) && !others.some((o) => isOver(r, o)) && !(focused && isOver(r, focused));
  const isGood = (r: Rect) => isApart(r) && !(bar && meet(r, bar));
  const first = { ...(focused && steps ? { x: focused.x + STEP, y: focused.y + BAR } : middleOf(size, area)), ...size };
  const lower = size.height > area.height - BAR ? [{ width: size.width, height: area.height - BAR }] : [];
  for (const one of [size, ...lower]) {
    const best = leastOf(placesFor(one, seen, area).filter(isGood), seen, middleOf(one, area));
    if (best) return isGood(first) && !isBetter(best, costOf(first, seen)) ? first : best.place;
  }
  const apart = leastOf(placesFor(size, seen, area).filter(isApart), seen, middleOf(size, area));
  return apart?.place ?? { ...middleOf(size, area), ...size };
}

function middleOf({ width, height }: Size, area: Area): Point {
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

/** A grid of places all over the page, and those at the edges of the windows that are seen. */
function placesFor(size: Size, seen: readonly Rect[], area: Area): Rect[] {
  const middle = middleOf(size, area);
  const right = area.width - size.width;
  const bottom = area.height - size.height;
  const xs = new Set([middle.x, right, ...stepsTo(right, STEP)]);
  const ys = new Set([middle.y, bottom, ...stepsTo(bottom, BAR)]);
  for (const { x, y, width, height } of seen) {
    for (const at of [x, x + width, x - size.width, x + width - size.width]) if (at >= 0 && at <= right) xs.add(at);
    for (const at of [y, y + BAR, y + height, y - size.height, y + height - size.height])
      if (at >= 0 && at <= bottom) ys.add(at);
  }
  return [...ys].flatMap((y) => [...xs].map((x) => ({ x, y, ...size })));
}

function stepsTo(end: number, step: number): number[] {
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, i) => i * step);
}

/** The pixels that a rectangle covers of another. */
function coveredOf(r: Rect, other: Rect): number {
  const width = Math.min(r.x + r.width, other.x + other.width) - Math.max(r.x, other.x);
  const height = Math.min(r.y + r.height, other.y + other.height) - Math.max(r.y, other.y);
  return width > 0 && height > 0 ? width * height : 0;
}

/** What a window at a place would cover: the buttons of so many windows, and so much of all of them. */
interface Cost {
  place: Rect;
  buttons: number;
  covered: number;
}

function costOf(place: Rect, seen: readonly Seen[]): Cost {
  let buttons = 0;
  let covered = 0;
  for (const one of seen) {
    if (meet(place, one.buttons)) buttons++;
    covered += coveredOf(place, one);
  }
  return { place, buttons, covered };
}

const isBetter = (a: Cost, b: Cost) => a.buttons < b.buttons || (a.buttons === b.buttons && a.covered < b.covered);

/** The place that costs least, and of several the one nearest to the middle. */
function leastOf(places: readonly Rect[], seen: readonly Seen[], middle: Point): Cost | undefined {
  const far = (r: Rect) => Math.abs(r.x - middle.x) + Math.abs(r.y - middle.y);
  let least: Cost | undefined;
  for (const place of places) {
    const cost = costOf(place, seen);
    if (!least || isBetter(cost, least) || (!isBetter(least, cost) && far(place) < far(least.place))) least = cost;
  }
  return least;
}
