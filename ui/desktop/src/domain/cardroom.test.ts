import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Rect } from "#base/domain/contracts.ts";
import { buttonsSeen, roomForCards } from "./cardroom";
import type { Win } from "./windows";
import { BAR, BUTTONS, meet } from "./wmplace";

const area = { width: 1440, height: 780 };
const column = { x: 410, width: 620, bottom: 776 };
const button = (x: number, y: number): Rect => ({ x, y, width: BUTTONS, height: BAR });
const win = (id: string, bounds: Rect, more: Partial<Win> = {}): Win => ({
  id,
  app: "files",
  bounds,
  state: "normal",
  focused_seq: Number(id),
  ...more,
});

describe("the room for cards", () => {
  it("hides no button of a few windows, wherever they stand", () => {
    const places = fc.record({
      x: fc.integer({ min: 0, max: area.width - BUTTONS }),
      y: fc.integer({ min: 0, max: area.height - BAR }),
    });
    fc.assert(
      fc.property(fc.array(places, { maxLength: 1 }), (at) => {
        const buttons = at.map(({ x, y }) => button(x, y));
        const { aside, height } = roomForCards(column, buttons, area);
        const cards = { x: column.x + aside, y: column.bottom - height, width: column.width, height };
        expect(buttons.some((b) => meet(b, cards))).toBe(false);
        expect(cards.x >= 0 && cards.x + cards.width <= area.width).toBe(true);
      }),
    );
  });

  it("is all of the page while no button is in the column", () => {
    expect(roomForCards(column, [button(1200, 300)], area)).toEqual({ aside: 0, height: 776 });
  });

  it("ends below a button that stands high in the column", () => {
    expect(roomForCards(column, [button(900, 200)], area)).toEqual({ aside: 0, height: 776 - 248 });
  });

  it("goes aside, as little as is needed, from one that stands low in it", () => {
    expect(roomForCards(column, [button(950, 600)], area)).toEqual({ aside: 950 - 8 - 620 - 410, height: 776 });
    expect(roomForCards(column, [button(420, 600)], area)).toEqual({ aside: 420 + BUTTONS + 8 - 410, height: 776 });
  });

  it("is high enough to be read where windows stand low all over the page", () => {
    const low = [0, 200, 400, 600, 800, 1000, 1200].map((x) => button(x, 700));
    expect(roomForCards(column, low, area).height).toBe(200);
  });
});

describe("the buttons that are seen", () => {
  const below = { x: 100, y: 100, width: 600, height: 400 };
  it.each([
    ["of a window", [win("1", below)], 1],
    ["none of a minimised one", [win("1", below, { state: "minimised" })], 0],
    ["none of another desktop", [win("1", below, { desktop: 1 })], 0],
    ["none below a window that covers them", [win("1", below), win("2", { ...below, y: 60 })], 1],
    ["both where one stands beside the other", [win("1", below), win("2", { ...below, x: 750 })], 2],
  ])("are those %s", (_, windows, count) => {
    expect(buttonsSeen(windows, 0, area)).toHaveLength(count);
  });

  it("are at the left end of a page written from right to left", () => {
    expect(buttonsSeen([win("1", below)], 0, { ...area, rtl: true })).toEqual([button(100, 100)]);
  });
});
