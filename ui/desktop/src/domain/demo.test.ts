import { expect, it } from "vitest";
import type { Event, ID } from "#base/domain/contracts.ts";
import { emptyStory, tell } from "#base/domain/story.ts";
import { event, RUN } from "#base/domain/testing.ts";
import { cuesOf, demoOf, isFresh, isLed, placesOf, seenOf, sliderOf } from "./demo";

const of = { run: RUN };
const told = (...events: Event[]) => events.reduce(tell, emptyStory(RUN));
const began = event(1, "prompt.submitted", { text: "Please", recording: "x", paced: true }, of);
const document = event(2, "document.created", { document: "d" as ID, title: "A page", run: RUN } as never, of);
const ended = event(3, "run.finished", { outcome: "done", answer: "It is done." }, of);

it("shows the trace from the beginning, the document once there is one, and the slider at a good end", () => {
  expect(isFresh(told(began))).toBe(true);
  expect(cuesOf(told(began))).toEqual(["trace"]);
  expect(told(began).paced).toBe(true);
  expect(cuesOf(told(began, document))).toEqual(["trace", "document"]);
  expect(isFresh(told(began, document))).toBe(false);
  expect(cuesOf(told(began, document, ended))).toEqual(["trace", "document", "slider"]);
  const stopped = event(3, "run.finished", { outcome: "cancelled", answer: "Stopped." }, of);
  expect(cuesOf(told(began, document, stopped))).toEqual(["trace", "document"]);
});

it("puts the windows beside each other, inside of the area, and leaves room below them", () => {
  for (const area of [
    { width: 1440, height: 780 },
    { width: 1000, height: 600 },
  ]) {
    const { document, trace, terminal, slider } = placesOf(area);
    for (const r of [document, trace, terminal, slider]) {
      expect(Math.min(r.x, r.y)).toBeGreaterThanOrEqual(0);
      expect(r.x + r.width).toBeLessThanOrEqual(area.width);
      expect(r.y + r.height).toBeLessThanOrEqual(area.height - 40);
    }
    expect(document.x + document.width).toBeLessThan(trace.x);
    expect(trace.y + trace.height).toBeLessThan(terminal.y);
  }
});

it("knows its timeline, before and after a person was led to the slider", () => {
  expect(demoOf(sliderOf(RUN))).toEqual({ run: RUN, leads: true });
  expect(demoOf(seenOf(RUN))).toEqual({ run: RUN, leads: false });
  expect(demoOf("moment:12")).toEqual({ leads: false });
});

it("was led to its end when a window showed its timeline, whatever became of that", () => {
  const opened = (subject: string) => event(4, "window.opened", { window: "w", app: "timeline", subject } as never);
  const shows = (subject: string) => event(5, "window.retitled", { window: "w", title: "", subject } as never);
  expect(isLed([began, document, ended], RUN)).toBe(false);
  expect(isLed([opened(`run:${RUN}`), shows("moment:5"), opened(sliderOf("another"))], RUN)).toBe(false);
  expect(isLed([opened(sliderOf(RUN))], RUN)).toBe(true);
  expect(isLed([shows(sliderOf(RUN))], RUN)).toBe(true);
  expect(isLed([shows(seenOf(RUN))], RUN)).toBe(true);
});
