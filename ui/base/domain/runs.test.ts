import { expect, it } from "vitest";
import { listRuns } from "./runs";
import { event, RUN } from "./testing";
import type { Run } from "./views";

const began = event(5, "prompt.submitted", { text: "Please" }, { run: RUN });
const start = listRuns([], began);

it("puts a new run first, once", () => {
  expect(start.map((r) => r.prompt)).toEqual(["Please"]);
  expect(listRuns(start, began)).toBe(start);
});

it("follows a run's state", () => {
  const asked = listRuns(start, event(6, "question.asked", { question: { id: "q", text: "?" } }, { run: RUN }));
  const done = listRuns(asked, event(7, "run.finished", { outcome: "failed", answer: "" }, { run: RUN }));
  expect([asked, done].map((runs: readonly Run[]) => runs[0]?.state)).toEqual(["waiting", "failed"]);
});

it("never opens a run again that has ended", () => {
  const done = listRuns(start, event(7, "run.finished", { outcome: "cancelled", answer: "" }, { run: RUN }));
  expect(listRuns(done, event(8, "plan.made", { goal: "", steps: [] }, { run: RUN }))[0]?.state).toBe("cancelled");
});

it("leaves the list alone for what it has seen", () => {
  expect(listRuns(start, event(4, "run.finished", { outcome: "done", answer: "" }, { run: RUN }))).toBe(start);
});
