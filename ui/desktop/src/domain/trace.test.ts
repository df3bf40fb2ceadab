import { describe, expect, it } from "vitest";
import type { Event } from "#base/domain/contracts.ts";
import { event } from "#base/domain/testing.ts";
import { layout, traceLines, traceMarkdown, traceOf } from "./trace";

const at = (e: Event, ms: number, over: object = {}): Event =>
  ({ ...e, time: new Date(1_700_000_000_000 + ms).toISOString(), ...over }) as Event;

const usage = {
  provider: "p",
  model: "m",
  caller: "director" as const,
  input_tokens: 100,
  output_tokens: 20,
  cached_tokens: 5,
  cost_usd: 0.5,
  duration_ms: 30,
};
const run: Event[] = [
  at(event(1, "prompt.submitted", { text: "Do it" }), 0),
  at(event(2, "model.called", { call: "c1", caller: "director", provider: "p", model: "m", request: "aa" }), 10),
  at(event(3, "model.returned", { ...usage, call: "c1", response: "bb" }), 40),
  at(
    event(4, "task.dispatched", {
      task: { version: 1, task_id: "t1", run_id: "r", kind: "run", instruction: "Run it" },
    }),
    50,
    { task: "t1" },
  ),
  at(event(5, "tool.called", { call: "c2", tool: "bash", input: { command: "make" }, writes: true }), 60, {
    task: "t1",
  }),
  at(event(6, "tool.returned", { call: "c2", ok: false, output: "```\nno\n```", duration_ms: 5 }), 65, { task: "t1" }),
  at(event(7, "run.finished", { outcome: "failed", answer: "No." }), 90),
];

describe("a trace", () => {
  const trace = traceOf(run);

  it("has each step with what went in and came out", () => {
    expect(trace.steps.map((s) => [s.kind, s.from, s.to, s.ok])).toEqual([
      ["prompt", 0, 0, true],
      ["model", 10, 40, true],
      ["task", 50, undefined, undefined],
      ["tool", 60, 65, false],
      ["end", 90, 90, false],
    ]);
    expect(trace.steps[1]?.content).toEqual([
      { is: "input", blob: "aa" },
      { is: "output", blob: "bb" },
    ]);
    expect(trace.steps[3]).toMatchObject({ title: "bash make", parent: "t1" });
    expect(trace).toMatchObject({
      span: 90,
      cost: 0.5,
      outcome: "failed",
      tokens: { input: 100, output: 20, cached: 5 },
    });
  });

  it("says of what a person stopped that it was stopped, and of what failed before that it failed", () => {
    const stopped = traceOf([
      ...run.slice(0, 6),
      at(event(7, "run.cancel_requested", { reason: "" }), 70),
      at(event(8, "tool.called", { call: "c3", tool: "bash", input: { command: "sleep 9" }, writes: true }), 71),
      at(event(9, "tool.returned", { call: "c3", ok: false, code: "cancelled_by_you", duration_ms: 5 }), 75),
      at(event(10, "run.finished", { outcome: "cancelled", answer: "" }), 90),
    ]);
    expect(stopped.steps.slice(-3).map((s) => [s.title, s.ok, s.stopped])).toEqual([
      ["bash make", false, undefined],
      ["bash sleep 9", undefined, true],
      ["stopped", undefined, true],
    ]);
    const markdown = traceMarkdown(stopped);
    expect(markdown).toContain("# Run\n\nstopped, 90 ms");
    expect(markdown).not.toContain("cancelled");
    expect(markdown.match(/, failed/g)).toHaveLength(1);
  });

  it("lays every step out once, children right of their parents", () => {
    const places = layout(trace.steps);
    expect(places.size).toBe(trace.steps.length);
    for (const s of trace.steps) {
      if (s.parent) expect(places.get(s.id)?.column).toBe((places.get(s.parent)?.column ?? 0) + 1);
    }
    const cells = [...places.values()].map((p) => `${p.column} ${p.row}`);
    expect(new Set(cells).size).toBe(cells.length);
  });

  it("goes out as Markdown whose code cannot break out, and as its events", () => {
    const markdown = traceMarkdown(trace);
    expect(markdown).toContain("````\n```\nno\n```\n````");
    expect(markdown).toContain("## tool: bash make");
    expect(
      traceLines(run)
        .trim()
        .split("\n")
        .map((l) => JSON.parse(l)),
    ).toEqual(run);
  });
});
