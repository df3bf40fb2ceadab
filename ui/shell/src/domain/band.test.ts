import { expect, it } from "vitest";
import { RUN } from "#base/domain/testing.ts";
import type { Mark } from "#base/domain/views.ts";
import { bandOf } from "./band";

const NOW = Date.parse("2026-11-21T12:10:00.000Z");

const mark = (seq: number, over: Partial<Mark> = {}): Mark => ({
  seq,
  at: new Date(NOW - 100_000_000 + seq * 1000).toISOString(),
  kind: "call",
  source: "associate",
  told: { sentence: "asked" },
  text: "",
  ...over,
});

it("never draws more than its columns, and keeps what matters most in each", () => {
  const marks = Array.from({ length: 10_000 }, (_, i) =>
    mark(i + 1, { kind: i === 5003 ? "rewind" : "call", run: `r${i >> 2}` }),
  );
  const band = bandOf(marks, 240, NOW);
  expect(band.ticks.length).toBeLessThanOrEqual(240);
  expect(band.spans.length).toBeLessThanOrEqual(241);
  expect(band.labels.length).toBeLessThanOrEqual(5);
  expect(band.ticks.filter((t) => t.kind === "back")).toHaveLength(1);
});

it("lays marks out evenly, with the end for now", () => {
  const marks = [mark(1, { kind: "prompt", run: RUN }), mark(5, { run: RUN }), mark(6, { checkpoint: "k" }), mark(9)];
  const band = bandOf(marks, 240, NOW);
  expect(band.ticks).toEqual([
    { at: 0, kind: "ask" },
    { at: 0.25, kind: "step" },
    { at: 0.5, kind: "kept" },
    { at: 0.75, kind: "step" },
  ]);
  expect(band.spans).toEqual([{ from: 0, to: 0.25, run: RUN }]);
});

it("draws nothing of nothing", () => {
  expect(bandOf([], 240, NOW)).toEqual({ ticks: [], spans: [], labels: [] });
});
