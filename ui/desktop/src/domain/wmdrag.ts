import type { Rect } from "#base/domain/contracts.ts";
import type { Snap, Win } from "./windows";
import { type Area, BAR, GRIP, reachable } from "./wmplace";

/** The sides and corners a window is resized at. */
export const sides = ["n", "s", "e", "w", "ne", "nw", "se", "sw"] as const;
export type Side = (typeof sides)[number];

/** The least size of a window. */
export interface Least {
  width: number;
  height: number;
}

/** Bounds after a move by so many pixels. */
export function movedBy(bounds: Rect, dx: number, dy: number, area: Area): Rect {
  return reachable({ ...bounds, x: Math.round(bounds.x + dx), y: Math.round(bounds.y + dy) }, area);
}

/** Bounds after one side or corner was pulled, at most to the edge of the page; the opposite one stays. */
export function resizedBy(bounds: Rect, side: Side, dx: number, dy: number, least: Least, area: Area): Rect {
  const [x, width] = along(
    bounds.x,
    bounds.width,
    least.width,
    side.includes("w") ? -1 : side.includes("e") ? 1 : 0,
    side.includes("w") ? Math.max(dx, -Math.max(0, bounds.x)) : Math.min(dx, Math.max(0, roomRight(bounds, area))),
  );
  // The title bar never goes above the desktop.
  const up = side.includes("n") ? Math.max(dy, -bounds.y) : dy;
  const [y, height] = along(
    bounds.y,
    bounds.height,
    least.height,
    side.includes("n") ? -1 : side.includes("s") ? 1 : 0,
    up,
  );
  const next = { x, y, width, height };
  const held = reachable(next, area);
  // One that could not be reached any more is pulled less far.
  return held.x === next.x && held.y === next.y ? next : bounds;
}

/** Pixels between the right side of bounds and the edge of the page. */
const roomRight = ({ x, width }: Rect, area: Area) => area.width - x - width;

function along(start: number, length: number, least: number, way: -1 | 0 | 1, by: number): [number, number] {
  if (way === 0) return [start, length];
  const next = Math.max(Math.min(least, length), Math.round(length + way * by));
  return [way === 1 ? start : start + length - next, next];
}

/** Pixels from an edge at which a drag begins to snap. */
const EDGE = 14;

/** Part of an edge, from its ends, that means a corner. */
const CORNER = 0.22;

/** What letting go here would do. */
export function snapAt(x: number, y: number, { width, height }: Area): Snap | "maximised" | undefined {
  const upper = y < height * CORNER;
  const lower = y > height * (1 - CORNER);
  if (x <= EDGE) return upper ? "top_left" : lower ? "bottom_left" : "left";
  if (x >= width - EDGE) return upper ? "top_right" : lower ? "bottom_right" : "right";
  if (y <= EDGE / 2) return "maximised";
  if (y >= height - EDGE / 2) return "bottom";
  return undefined;
}

/** Where a snapped or maximised window is once it is pulled off: under the pointer, its own size. */
export function pulledOff(win: Win, drawn: Rect, pointer: { x: number; y: number }, area: Area): Rect {
  const part = (pointer.x - drawn.x) / Math.max(1, drawn.width);
  return reachable(
    {
      ...win.bounds,
      x: Math.round(pointer.x - win.bounds.width * part),
      y: Math.round(pointer.y - Math.min(pointer.y - drawn.y, BAR / 2)),
    },
    area,
  );
}

/** The snap that one more arrow key makes of a window. */
export function snapByKey(
  win: Win,
  way: "left" | "right" | "up" | "down",
): Snap | "maximised" | "normal" | "minimised" {
  const now = win.state === "snapped" ? win.snap : undefined;
  if (way === "left" || way === "right") {
    if (now === "top" || now === "bottom") return `${now}_${way}`;
    if (now?.startsWith("top_")) return `top_${way}`;
    if (now?.startsWith("bottom_")) return `bottom_${way}`;
    return now === opposite(way) ? "normal" : way;
  }
  if (way === "up") {
    if (now === "left" || now === "right") return `top_${now}`;
    if (now === "bottom_left") return "left";
    if (now === "bottom_right") return "right";
    return "maximised";
  }
  if (win.state === "maximised") return "normal";
  if (now === "left" || now === "right") return `bottom_${now}`;
  if (now === "top_left") return "left";
  if (now === "top_right") return "right";
  return win.state === "snapped" ? "normal" : "minimised";
}

const opposite = (way: "left" | "right") => (way === "left" ? "right" : "left");

/** Pixels by which an arrow key moves or resizes. */
export const KEY_STEP = 24;

/** The least size of any window. */
export const LEAST: Least = { width: GRIP * 3, height: BAR * 4 };
