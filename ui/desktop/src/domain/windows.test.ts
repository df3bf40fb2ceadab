import { describe, expect, it } from "vitest";
import { event } from "#base/domain/testing.ts";
import { knownFrom, learn, placeIn, reduceWindows, stacked, type Win } from "./windows";

const bounds = { x: 10, y: 20, width: 300, height: 200 };
const win: Win = { id: "a", app: "files", bounds, state: "normal", focused_seq: 3 };
const moved = (seq: number, x: number) => event(seq, "window.moved", { window: "a", bounds: { ...bounds, x } });

describe("what is known of windows", () => {
  it("follows the events", () => {
    let known = knownFrom([], 0);
    known = reduceWindows(known, event(1, "window.opened", { window: "a", app: "files", bounds }));
    known = reduceWindows(
      known,
      event(2, "window.shown", { window: "a", state: "minimised", was: "snapped", snap: "left" }),
    );
    expect(known.get("a")?.win).toMatchObject({ state: "minimised", was: "snapped", snap: "left", bounds });
    known = reduceWindows(known, event(3, "window.shown", { window: "a", state: "normal" }));
    expect(known.get("a")?.win?.snap).toBeUndefined();
    known = reduceWindows(known, event(4, "window.retitled", { window: "a", title: "Notes", subject: "notes.md" }));
    known = reduceWindows(known, moved(5, 99));
    expect(known.get("a")?.win).toMatchObject({ title: "Notes", subject: "notes.md", bounds: { x: 99 } });
    known = reduceWindows(known, event(6, "window.closed", { window: "a" }));
    expect(known.get("a")?.win).toBeUndefined();
  });

  it("keeps a window closed when an answer about it comes late", () => {
    let known = reduceWindows(knownFrom([win], 3), event(9, "window.closed", { window: "a" }));
    known = learn(known, "a", { ...win, title: "late" }, 8);
    expect(known.get("a")?.win).toBeUndefined();
    known = reduceWindows(known, event(7, "window.opened", { window: "a", app: "files", bounds }));
    expect(known.get("a")?.win).toBeUndefined();
  });

  it("keeps what it heard while it asked for the whole desktop", () => {
    const known = knownFrom([win, { ...win, id: "b" }], 12, knownFrom([{ ...win, id: "c" }], 14));
    expect([...known.keys()]).toEqual(["a", "b", "c"]);
    expect(knownFrom([win], 12, known).get("c")?.seq).toBe(14);
    expect(knownFrom([win], 12, known).has("b")).toBe(false);
  });

  it("does not go back when an answer overtook its events", () => {
    let known = knownFrom([win], 3);
    known = learn(known, "a", { ...win, bounds: { ...bounds, x: 500 } }, 9);
    known = reduceWindows(known, moved(8, 100));
    expect(known.get("a")?.win?.bounds.x).toBe(500);
    known = learn(known, "a", win, 7);
    expect(known.get("a")?.win?.bounds.x).toBe(500);
    known = reduceWindows(known, moved(10, 700));
    expect(known.get("a")?.win?.bounds.x).toBe(700);
  });

  it("leaves what is no window alone", () => {
    const known = knownFrom([win], 3);
    expect(reduceWindows(known, event(4, "session.ended", { reason: "test" }))).toBe(known);
    expect(reduceWindows(known, event(4, "window.moved", { window: "b", bounds }))).toBe(known);
  });

  it("stacks by the last focus", () => {
    const low = { ...win, id: "b", focused_seq: 1 };
    expect(stacked([win, low]).map((w) => w.id)).toEqual(["b", "a"]);
  });
});

it("gives of a subject only words that people read", () => {
  const id = "01a2c7f4-0000-7000-8000-000000000001";
  const subjects = [
    `document:${id}`,
    `run:${id}`,
    `terminal:${id}`,
    `demo-seen:${id}`,
    "workspace/a.go",
    "search:a",
    "",
  ];
  expect(subjects.map(placeIn)).toEqual(["", "", "", "", "workspace/a.go", "search:a", ""]);
});
