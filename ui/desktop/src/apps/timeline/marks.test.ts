import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Mark, MarkKind } from "#base/domain/views.ts";
import { inOrder, leap, placeOf } from "./marks";

const mark = (seq: number, kind: MarkKind = "files", more: Partial<Mark> = {}): Mark => ({
  seq,
  at: "2026-11-21T02:28:00.000Z",
  kind,
  source: "user",
  text: "",
  told: { sentence: "asked" },
  ...more,
});

describe("pages of marks", () => {
  it("become one list from the oldest on, and what was read last holds", () => {
    const pages = [{ marks: [mark(9), mark(7, "task", { text: "new" })] }, { marks: [mark(7, "task"), mark(2)] }];
    expect(inOrder(pages).map((m) => m.seq)).toEqual([2, 7, 9]);
    expect(inOrder(pages)[1]?.text).toBe("new");
  });
});

describe("placeOf", () => {
  it("is the last mark that is not after the event", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 500 })), fc.integer({ min: 0, max: 510 }), (seqs, at) => {
        const marks = seqs.sort((a, b) => a - b).map((s) => mark(s));
        expect(placeOf(marks, at)).toBe(marks.filter((m) => m.seq <= at).length - 1);
      }),
    );
  });
});

describe("leap", () => {
  const marks = [
    mark(1),
    ...[2, 3, 4].map((s) => mark(s, "call", { run: "a" })),
    mark(5, "call", { run: "b" }),
    mark(6),
  ];

  it("goes from the beginning of a run to that of the next, and to now", () => {
    const from = (at: number, by: 1 | -1) => {
      const places = [at];
      for (;;) {
        const next = leap(marks, places.at(-1) ?? 0, by);
        if (next === places.at(-1)) return places;
        places.push(next);
      }
    };
    expect(from(0, 1)).toEqual([0, 1, 4, 5, 6]);
    expect(from(6, -1)).toEqual([6, 5, 4, 1, 0]);
  });
});
