import { expect, it } from "vitest";
import type { Event } from "#base/domain/contracts.ts";
import { type Progress, progressOf, withLine } from "./progress";

const run = "01900000-0000-7000-8000-00000000000a";
const document = "01900000-0000-7000-8000-00000000000d";
let seq = 0;
const event = (type: string, payload: unknown, source = "director") =>
  ({ id: `e${++seq}`, seq, type, run, source, time: 0, payload }) as unknown as Event;
const said = (...events: Event[]) =>
  events.reduce<readonly Progress[]>((lines, e) => {
    const line = progressOf(e);
    return line ? withLine(lines, line) : lines;
  }, []);

const finished = () => event("run.finished", { outcome: "done", answer: "Better words." });
const proposed = (kind = "proposal", source = "director") =>
  event("overlay.added", { overlay: run, document, version: 1, kind, anchor: {}, text: "Better words." }, source);

it("says once what a run proposed, and where it lies", () => {
  expect(said(proposed(), finished())).toMatchObject([{ kind: "proposed", document, text: "Better words." }]);
  expect(said(finished())).toMatchObject([{ kind: "done" }]);
});

it("says nothing of what people propose, and of comments", () => {
  expect(said(proposed("proposal", "desktop"), proposed("comment"))).toEqual([]);
});

it("still says that a run failed which had proposed something", () => {
  const failed = event("run.finished", { outcome: "failed", answer: "" });
  expect(said(proposed(), failed).map((l) => l.kind)).toEqual(["proposed", "failed"]);
});

it("keeps the last four lines, and one of each event", () => {
  const lines = Array.from({ length: 6 }, (_, i) => event("task.progressed", { text: `line ${i}` }));
  expect(said(...lines, ...lines.slice(-1)).map((l) => l.text)).toEqual(["line 2", "line 3", "line 4", "line 5"]);
});
