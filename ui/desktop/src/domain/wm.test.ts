import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Rect } from "#base/domain/contracts.ts";
import { maximisedOf, minimisedOf, restoredOf, type Snap, snappedOf, type Win } from "./windows";
import { LEAST, movedBy, resizedBy, sides, snapAt, snapByKey } from "./wmdrag";
import { focusedOf, neighbour, nextAfter, onDesktop, roundFrom } from "./wmorder";
import { type Area, BAR, BUTTONS, fitted, GRIP, overviewOf, partOf, placed, reachable } from "./wmplace";

const areas = fc.record({
  width: fc.integer({ min: 320, max: 4000 }),
  height: fc.integer({ min: 300, max: 2400 }),
  rtl: fc.boolean(),
});
const rects = fc.record({
  x: fc.integer({ min: -5000, max: 5000 }),
  y: fc.integer({ min: -5000, max: 5000 }),
  width: fc.integer({ min: LEAST.width, max: 3000 }),
  height: fc.integer({ min: LEAST.height, max: 2000 }),
});
const snaps = ["left", "right", "top", "bottom", "top_left", "top_right", "bottom_left", "bottom_right"] as const;
const steps = fc.oneof(
  fc.constant((w: Win) => minimisedOf(w)),
  fc.constant((w: Win) => maximisedOf(w)),
  fc.constant((w: Win) => restoredOf(w)),
  fc.constantFrom(...snaps).map((s: Snap) => (w: Win) => snappedOf(w, s)),
);
const winOf = (bounds: Rect, id = "a", focused_seq = 1): Win => ({
  id,
  app: "files",
  bounds,
  state: "normal",
  focused_seq,
});

/** The buttons at the end of the title bar are on the page, and a part beside them to drag by. */
function isWithinReach(r: Rect, area: Area): boolean {
  const kept = Math.min(BUTTONS + GRIP, r.width, area.width);
  const from = area.rtl ? r.x : r.x + r.width - kept;
  return from >= 0 && from + kept <= area.width && r.y >= 0 && r.y <= Math.max(0, area.height - BAR);
}

describe("a window", () => {
  it("can always be reached, wherever it was put", () => {
    fc.assert(
      fc.property(rects, areas, fc.array(steps, { maxLength: 8 }), (bounds, area, then) => {
        const win = then.reduce((w, step) => step(w), winOf(bounds));
        const at = placed(win, area);
        if (win.state === "minimised") expect(at).toBeUndefined();
        else expect(isWithinReach(at as Rect, area)).toBe(true);
      }),
    );
  });

  it("keeps its bounds through every state, and comes back to them", () => {
    fc.assert(
      fc.property(rects, fc.array(steps, { maxLength: 8 }), (bounds, then) => {
        let win = then.reduce((w, step) => step(w), winOf(bounds));
        expect(win.bounds).toEqual(bounds);
        // Never both: what restoring gives is told apart from what is.
        expect(win.was === undefined || win.state === "minimised").toBe(true);
        expect((win.state === "snapped" || win.was === "snapped") === (win.snap !== undefined)).toBe(true);
        const shown = win.state === "minimised" ? win.was : undefined;
        if (win.state === "minimised") win = restoredOf(win);
        if (shown) expect(win.state).toBe(shown);
        if (win.state !== "normal") win = restoredOf(win);
        expect(win.state).toBe("normal");
      }),
    );
  });

  it("of a larger page is wholly on a smaller one, and hangs over an edge that hides no button", () => {
    const small = { width: 1200, height: 700 };
    expect(fitted({ x: 100, y: 300, width: 800, height: 900 }, small)).toEqual({
      x: 100,
      y: 0,
      width: 800,
      height: 700,
    });
    expect(fitted({ x: 1500, y: 900, width: 600, height: 400 }, small)).toEqual({
      x: 600,
      y: 300,
      width: 600,
      height: 400,
    });
    const parked = { x: -300, y: 500, width: 600, height: 400 };
    expect(fitted(parked, small)).toEqual(parked);
    const mirrored = { ...parked, x: 900 };
    expect(fitted(mirrored, { ...small, rtl: true })).toEqual(mirrored);
    fc.assert(
      fc.property(rects, areas, (bounds, area) => {
        const at = fitted(bounds, area);
        expect(isWithinReach(at, area)).toBe(true);
        expect(fitted(at, area)).toEqual(at);
        expect(at.width <= area.width && at.height <= area.height).toBe(true);
      }),
    );
  });

  it("that would fit a smaller page and hangs over its edge has its buttons on the page", () => {
    const small = { width: 1200, height: 700 };
    const right = { x: 900, y: 100, width: 600, height: 400 };
    expect(fitted(right, small)).toEqual({ ...right, x: 600 });
    expect(fitted({ ...right, x: -500 }, small)).toEqual({ ...right, x: 0 });
    expect(fitted({ ...right, x: -300 }, { ...small, rtl: true })).toEqual({ ...right, x: 0 });
  });

  it("stays where it is when it is reachable there", () => {
    fc.assert(
      fc.property(rects, areas, (bounds, area) => {
        const once = reachable(bounds, area);
        expect(reachable(once, area)).toEqual(once);
        expect([once.width, once.height]).toEqual([bounds.width, bounds.height]);
        if (isWithinReach(bounds, area)) expect(once).toEqual(bounds);
      }),
    );
  });
});

describe("a drag", () => {
  it("moves by what the pointer moved, within reach", () => {
    const area = { width: 1440, height: 800 };
    const from = { x: 100, y: 100, width: 400, height: 300 };
    expect(movedBy(from, 30, -20, area)).toEqual({ x: 130, y: 80, width: 400, height: 300 });
    expect(movedBy(from, 0, -500, area).y).toBe(0);
    expect(movedBy(from, 5000, 0, area).x).toBe(1440 - 400);
    expect(movedBy(from, -5000, 0, area).x).toBe(BUTTONS + GRIP - 400);
  });

  it("of a side ends at the edge of the page", () => {
    const area = { width: 1440, height: 800 };
    const from = { x: 900, y: 100, width: 400, height: 300 };
    expect(resizedBy(from, "e", 5000, 0, LEAST, area)).toEqual({ ...from, width: 540 });
    expect(resizedBy(from, "w", -5000, 0, LEAST, area)).toEqual({ ...from, x: 0, width: 1300 });
  });

  it("resizes each side and leaves the opposite one", () => {
    fc.assert(
      fc.property(
        rects,
        areas,
        fc.constantFrom(...sides),
        fc.integer({ min: -2000, max: 2000 }),
        fc.integer({ min: -2000, max: 2000 }),
        (bounds, area, side, dx, dy) => {
          const from = reachable(bounds, area);
          const to = resizedBy(from, side, dx, dy, LEAST, area);
          expect(to.width).toBeGreaterThanOrEqual(Math.min(LEAST.width, from.width));
          expect(to.height).toBeGreaterThanOrEqual(Math.min(LEAST.height, from.height));
          expect(isWithinReach(to, area)).toBe(true);
          if (!side.includes("w")) expect(to.x).toBe(from.x);
          else expect(to.x + to.width).toBe(from.x + from.width);
          if (!side.includes("n")) expect(to.y).toBe(from.y);
          else expect(to.y + to.height).toBe(from.y + from.height);
          if (!/[we]/.test(side)) expect(to.width).toBe(from.width);
          if (!/[ns]/.test(side)) expect(to.height).toBe(from.height);
        },
      ),
    );
  });

  it("snaps at the edges and nowhere else", () => {
    const area = { width: 1200, height: 800 };
    expect(snapAt(0, 400, area)).toBe("left");
    expect(snapAt(0, 10, area)).toBe("top_left");
    expect(snapAt(1199, 790, area)).toBe("bottom_right");
    expect(snapAt(600, 0, area)).toBe("maximised");
    expect(snapAt(600, 799, area)).toBe("bottom");
    expect(snapAt(600, 400, area)).toBeUndefined();
  });
});

describe("the parts of the desktop", () => {
  it("cover it without a gap and without overlapping", () => {
    fc.assert(
      fc.property(areas, (area) => {
        const size = (s: Snap) => partOf(s, area).width * partOf(s, area).height;
        const whole = area.width * area.height;
        expect(size("left") + size("right")).toBe(whole);
        expect(size("top") + size("bottom")).toBe(whole);
        expect(size("top_left") + size("top_right") + size("bottom_left") + size("bottom_right")).toBe(whole);
      }),
    );
  });

  it("are all reached by arrow keys", () => {
    const seen = new Set<string>();
    let front: Win[] = [winOf({ x: 0, y: 0, width: 300, height: 200 })];
    for (let depth = 0; depth < 5; depth++) {
      front = front.flatMap((win) =>
        (["left", "right", "up", "down"] as const).map((way) => {
          const to = snapByKey(win, way);
          seen.add(to);
          if (to === "maximised") return maximisedOf(win);
          if (to === "minimised" || to === "normal") return restoredOf(win);
          return snappedOf(win, to);
        }),
      );
      front = [...new Map(front.map((w) => [`${w.state} ${w.snap}`, w])).values()];
    }
    expect([...seen].sort()).toEqual(
      [
        "bottom_left",
        "bottom_right",
        "left",
        "maximised",
        "minimised",
        "normal",
        "right",
        "top_left",
        "top_right",
      ].sort(),
    );
  });
});

describe("the order", () => {
  const stacks = fc.uniqueArray(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 12 }).chain((seqs) =>
    fc.tuple(
      ...seqs.map((seq) =>
        fc
          .record({ minimised: fc.boolean(), desktop: fc.integer({ min: 0, max: 1 }) })
          .map(({ minimised, desktop }): Win => {
            const win = { ...winOf({ x: 0, y: 0, width: 300, height: 200 }, `w${seq}`, seq), desktop };
            return minimised ? minimisedOf(win) : win;
          }),
      ),
    ),
  );

  it("has the focused window on top of all that are seen", () => {
    fc.assert(
      fc.property(stacks, (windows) => {
        const focused = focusedOf(windows, 0);
        const seen = onDesktop(windows, 0).filter((w) => w.state !== "minimised");
        expect(focused).toEqual(seen.at(-1));
        for (const w of seen) expect(w.focused_seq).toBeLessThanOrEqual(focused?.focused_seq ?? 0);
      }),
    );
  });

  it("gives the focus to the next one when the focused one closes", () => {
    fc.assert(
      fc.property(stacks, (windows) => {
        const focused = focusedOf(windows, 0);
        if (!focused) return;
        const next = nextAfter(windows, focused.id, 0);
        const rest = onDesktop(windows, 0).filter((w) => w.state !== "minimised" && w.id !== focused.id);
        expect(next).toEqual(rest.at(-1));
      }),
    );
  });

  it("goes round through every window of the desktop", () => {
    fc.assert(
      fc.property(stacks, (windows) => {
        const here = onDesktop(windows, 0);
        let now = windows as readonly Win[];
        const met = new Set<string>();
        for (let i = 0; i < here.length; i++) {
          const next = roundFrom(now, 0, 1);
          if (!next) break;
          met.add(next.id);
          now = now.map((w) => (w.id === next.id ? { ...restoredOf(w), state: "normal", focused_seq: 2000 + i } : w));
        }
        expect(met.size).toBe(here.length);
      }),
    );
  });
});

describe("the overview", () => {
  it("lays cells beside each other and every arrow key finds its way back", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), areas, (count, area) => {
        const cells = overviewOf(count, area, 0);
        expect(cells).toHaveLength(count);
        for (const c of cells) expect(c.x + c.width).toBeLessThanOrEqual(area.width + 1);
        const right = neighbour(cells, 0, "right");
        expect(neighbour(cells, right, "left")).toBe(0);
      }),
    );
  });
});
