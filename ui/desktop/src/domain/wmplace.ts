import type { Rect } from "#base/domain/contracts.ts";
import type { Snap, Win } from "./windows";

/** A page of at most so many pixels across shows one app at a time. */
export const NARROW = 900;

/** The space windows live in, in CSS pixels. */
export interface Area {
  width: number;
  height: number;
  /** The page is written from right to left: the buttons of a title bar are on its left. */
  rtl?: boolean;
}

/** So much of a title bar beside its buttons can always be dragged by. */
export const GRIP = 80;

/** The width of the three buttons at the end of a title bar, where they are made for fingers. */
export const BUTTONS = 144;

/** Height of a title bar. */
export const BAR = 40;

const between = (value: number, low: number, high: number) => Math.max(low, Math.min(value, high));

/**
 * Moves bounds so far that the buttons of the title bar are on the page and a part
 * beside them can be dragged by; the size stays. A window may hang over the edge at
 * which its title bar begins, and over the lower one.
 */
export function reachable(bounds: Rect, area: Area): Rect {
  const kept = Math.min(BUTTONS + GRIP, bounds.width, area.width);
  const left = area.rtl ? 0 : kept - bounds.width;
  const right = area.width - (area.rtl ? kept : bounds.width);
  return {
    ...bounds,
    x: between(bounds.x, left, right),
    y: between(bounds.y, 0, Math.max(0, area.height - BAR)),
  };
}

/**
 * Bounds as they are drawn on a page that may be smaller than the one they were made
 * on: no larger than the page, and wholly on it where they would not fit or the
 * buttons of their title bar could not be reached. The server keeps the bounds as
 * they were made: a larger page draws the window where it was put.
 */
export function fitted(bounds: Rect, area: Area): Rect {
  const width = Math.min(bounds.width, area.width);
  const height = Math.min(bounds.height, area.height);
  const { x, y } = reachable(bounds, area);
  return {
    x: x === bounds.x && width === bounds.width ? x : between(bounds.x, 0, area.width - width),
    y: y === bounds.y && height === bounds.height ? y : between(bounds.y, 0, area.height - height),
    width,
    height,
  };
}

/** The rectangle of one part of the desktop. */
export function partOf(snap: Snap, { width, height }: Area): Rect {
  const left = Math.floor(width / 2);
  const top = Math.floor(height / 2);
  const x = snap.endsWith("right") ? left : 0;
  const y = snap.startsWith("bottom") ? top : 0;
  const wide = snap === "top" || snap === "bottom";
  const tall = snap === "left" || snap === "right";
  return {
    x: wide ? 0 : x,
    y: tall ? 0 : y,
    width: wide ? width : x === 0 ? left : width - left,
    height: tall ? height : y === 0 ? top : height - top,
  };
}

/** Where a window is drawn; undefined while it is minimised. */
export function placed(win: Win, area: Area): Rect | undefined {
  switch (win.state) {
    case "minimised":
      return undefined;
    case "maximised":
      return { x: 0, y: 0, width: area.width, height: area.height };
    case "snapped":
      return partOf(win.snap ?? "left", area);
    case "normal":
      return fitted(win.bounds, area);
  }
}

/** Where the buttons of a window's title bar are drawn. */
export function buttonsOf(bounds: Rect, area: Area): Rect {
  const width = Math.min(BUTTONS, bounds.width);
  return { x: area.rtl ? bounds.x : bounds.x + bounds.width - width, y: bounds.y, width, height: BAR };
}

/** Whether two rectangles have a pixel in common. */
export function meet(a: Rect, b: Rect): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/** Whether one rectangle covers all of another. */
export function covers(upper: Rect, lower: Rect): boolean {
  return (
    upper.x <= lower.x &&
    upper.y <= lower.y &&
    upper.x + upper.width >= lower.x + lower.width &&
    upper.y + upper.height >= lower.y + lower.height
  );
}

/** Cells that show `count` windows beside each other, as wide as their shape allows. */
export function overviewOf(count: number, area: Area, gap = 24): Rect[] {
  if (count === 0) return [];
  const columns = Math.ceil(Math.sqrt((count * area.width) / Math.max(1, area.height)));
  const across = Math.min(count, Math.max(1, columns));
  const rows = Math.ceil(count / across);
  const width = (area.width - gap * (across + 1)) / across;
  const height = (area.height - gap * (rows + 1)) / rows;
  return Array.from({ length: count }, (_, i) => ({
    x: Math.round(gap + (i % across) * (width + gap)),
    y: Math.round(gap + Math.floor(i / across) * (height + gap)),
    width: Math.max(1, Math.round(width)),
    height: Math.max(1, Math.round(height)),
  }));
}
