import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Rect } from "#base/domain/contracts.ts";
import { placeOfNew } from "./wmnew";
import { BAR, buttonsOf, meet } from "./wmplace";

const areas = fc.record({
  width: fc.integer({ min: 901, max: 3000 }),
  height: fc.integer({ min: 300, max: 1600 }),
  rtl: fc.boolean(),
});
const sizes = fc.record({ width: fc.integer({ min: 200, max: 1600 }), height: fc.integer({ min: 160, max: 1200 }) });
const page = { width: 1440, height: 780 };
const barOf = (r: Rect): Rect => ({ ...r, height: BAR });

/** An area, and windows that are whole on it. */
const desks = areas.chain((area) => {
  const window = fc
    .record({ width: fc.integer({ min: 200, max: area.width }), height: fc.integer({ min: 160, max: area.height }) })
    .chain((size) =>
      fc.record({
        x: fc.integer({ min: 0, max: area.width - size.width }),
        y: fc.integer({ min: 0, max: area.height - size.height }),
        width: fc.constant(size.width),
        height: fc.constant(size.height),
      }),
    );
  return fc.record({
    area: fc.constant(area),
    focused: window,
    others: fc.array(window, { maxLength: 6 }),
    steps: fc.boolean(),
  });
});

describe("a new window", () => {
  it("is whole on the page", () => {
    fc.assert(
      fc.property(desks, sizes, ({ area, ...there }, size) => {
        const at = placeOfNew(size, there, area);
        expect(Math.min(at.x, at.y)).toBeGreaterThanOrEqual(0);
        expect(at.x + at.width).toBeLessThanOrEqual(area.width);
        expect(at.y + at.height).toBeLessThanOrEqual(area.height);
      }),
    );
  });

  it("leaves the title bar of the window that has the focus free wherever there is room for that", () => {
    fc.assert(
      fc.property(desks, sizes, ({ area, focused }, size) => {
        const width = Math.min(size.width, area.width);
        const height = Math.min(size.height, area.height);
        const isRoom =
          focused.y + BAR + height <= area.height ||
          height <= focused.y ||
          width <= focused.x ||
          focused.x + focused.width + width <= area.width;
        const at = placeOfNew(size, { focused, steps: true, others: [] }, area);
        if (isRoom) expect(meet(at, barOf(focused))).toBe(false);
      }),
    );
  });

  it("lies exactly over no other, and keeps its size while there is room", () => {
    fc.assert(
      fc.property(desks, ({ area, ...there }) => {
        const at = placeOfNew({ width: 320, height: 200 }, there, area);
        for (const other of there.others) expect([at.x, at.y]).not.toEqual([other.x, other.y]);
        expect([at.width, at.height]).toEqual([320, 200]);
      }),
    );
  });

  it("covers no window while a place that covers none is free", () => {
    const free = desks.chain(({ area, focused, others }) =>
      fc
        .record({
          width: fc.integer({ min: 200, max: area.width }),
          height: fc.integer({ min: 160, max: area.height }),
        })
        .chain(({ width, height }) =>
          fc.record({
            area: fc.constant(area),
            windows: fc.constant([focused, ...others]),
            place: fc.record({
              x: fc.integer({ min: 0, max: area.width - width }),
              y: fc.integer({ min: 0, max: area.height - height }),
              width: fc.constant(width),
              height: fc.constant(height),
            }),
          }),
        ),
    );
    fc.assert(
      fc.property(free, ({ area, windows, place }) => {
        const [focused, ...others] = windows.filter((w) => !meet(w, place));
        const at = placeOfNew(place, { focused, steps: true, others }, area);
        expect([focused, ...others].filter((w) => w && meet(w, at))).toEqual([]);
      }),
    );
  });

  it("covers the least of a window that leaves no such place", () => {
    const focused = { x: 100, y: 60, width: 700, height: 500 };
    const at = placeOfNew({ width: 700, height: 500 }, { focused, steps: true, others: [] }, page);
    expect(at).toEqual({ x: 740, y: 280, width: 700, height: 500 });
  });

  it("goes a step beside the one that has the focus, and below its title bar, where none is better", () => {
    const focused = { x: 0, y: 0, ...page };
    expect(placeOfNew({ width: 700, height: 500 }, { focused, steps: true, others: [] }, page)).toEqual({
      x: 32,
      y: BAR,
      width: 700,
      height: 500,
    });
  });

  it("covers the buttons of no window while a place beside them is free", () => {
    const size = { width: 600, height: 400 };
    const focused = { x: 800, y: 340, width: 600, height: 400 };
    const others = [{ x: 20, y: 20, width: 600, height: 400 }];
    const at = placeOfNew(size, { focused, steps: true, others }, page);
    expect(meet(at, barOf(focused)) || others.some((o) => meet(at, buttonsOf(o, page)))).toBe(false);
  });

  it("leaves the title bar of a maximised window free, and becomes lower for that", () => {
    const focused = { x: 0, y: 0, ...page };
    expect(placeOfNew({ width: 900, height: 770 }, { focused, others: [] }, page)).toEqual({
      x: 270,
      y: BAR,
      width: 900,
      height: page.height - BAR,
    });
  });

  it("has a place of its own each time many are opened one after the other", () => {
    const open: Rect[] = [];
    for (let i = 0; i < 30; i++) {
      const others = open.slice(0, -1);
      open.push(placeOfNew({ width: 860, height: 560 }, { focused: open.at(-1), steps: true, others }, page));
    }
    expect(new Set(open.map((r) => `${r.x} ${r.y}`)).size).toBe(30);
  });

  it("is as high as its app wants it, however many are open", () => {
    const heights = [500, 680, 580, 640, 660];
    const open: Rect[] = [];
    for (let i = 0; i < 15; i++) {
      const size = { width: 900, height: heights[i % heights.length] ?? 0 };
      const at = placeOfNew(size, { focused: open.at(-1), steps: true, others: open.slice(0, -1) }, page);
      expect(at.height).toBe(size.height);
      open.push(at);
    }
  });
});
