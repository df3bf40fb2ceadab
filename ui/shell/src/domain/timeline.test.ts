import { expect, it } from "vitest";
import { event, RUN } from "./testing";
import { timelineOf } from "./timeline";

const made = {
  checkpoint: "k",
  snapshot: "s",
  subject: "checkpoint: 20261121-035841",
  trigger: "task" as const,
  verified: true,
};

it("tells a moment once, newest first, whoever told it", () => {
  const events = [
    event(3, "repo.added", { name: "tally", files: 10, bytes: 1 }),
    event(7, "checkpoint.created", made, { run: RUN }),
    event(9, "timeline.rewound", { to_seq: 3, snapshot: "", before: "", files: 2 }),
  ];
  const known = [{ id: "k", seq: 7, at: "2026-11-21T02:28:00.000Z", ...made, run: RUN }];
  const moments = timelineOf(known, events, [{ id: RUN, prompt: "Add --top" }]);
  expect(moments.map((m) => [m.seq, m.kind, m.target])).toEqual([
    [9, "rewind", 8],
    [7, "checkpoint", 7],
    [3, "repo", 3],
  ]);
  expect(moments[1]?.title).toBe("Add --top");
});

it("keeps a subject in one's own words", () => {
  const [moment] = timelineOf([], [event(1, "checkpoint.created", { ...made, subject: "before lunch" })], []);
  expect(moment?.title).toBe("before lunch");
});
