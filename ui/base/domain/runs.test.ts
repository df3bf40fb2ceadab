import { expect, it } from "vitest";
import { listRuns, undoneAsRead } from "./runs";
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

const undone = (seq: number) => event(seq, "timeline.undone", { of: RUN, snapshot: "", before: "", files: 1 });
const rewound = (seq: number, to_seq: number) =>
  event(seq, "timeline.rewound", { to_seq, snapshot: "", before: "", files: 1 });
const undoneBy = (runs: readonly Run[]) => runs[0]?.undone?.seq;

it("knows that a run was undone until a rewind takes that back", () => {
  const taken = listRuns(start, undone(8));
  expect(undoneBy(taken)).toBe(8);
  expect(undoneBy(listRuns(taken, rewound(10, 9)))).toBe(8);
  expect(undoneBy(listRuns(taken, rewound(10, 7)))).toBeUndefined();
  expect(undoneBy(listRuns(taken, rewound(7, 6)))).toBe(8);
  expect(undoneBy(listRuns(start, { ...undone(8), payload: { ...undone(8).payload, of: "another" } }))).toBeUndefined();
});

it("reads after a rewind which runs are undone, and keeps what it heard later", () => {
  const again = listRuns(start, undone(8));
  expect(undoneBy(undoneAsRead(start, again, 10))).toBe(8);
  expect(undoneBy(undoneAsRead(again, start, 10))).toBeUndefined();
  expect(undoneBy(undoneAsRead(listRuns(start, undone(12)), start, 10))).toBe(12);
  expect(undoneAsRead(start, [], 10)).toEqual(start);
});
