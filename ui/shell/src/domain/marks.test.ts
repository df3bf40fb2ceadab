import { describe, expect, it } from "vitest";
import { RUN, TASK } from "#base/domain/testing.ts";
import type { Mark, MarkKind, Run } from "#base/domain/views.ts";
import { changedWords, leap, outcomeOf, placeOf, rowsOf, runsThen, undoable, wordsOf } from "./marks";
import { mergeMarks } from "./mergemarks";

const NOW = Date.parse("2026-11-21T12:10:00.000Z");
const OTHER = "01900000-0000-7000-8000-00000000000c";

function mark(seq: number, kind: MarkKind, text: string, over: Partial<Mark> = {}): Mark {
  const at = new Date(Date.parse("2026-11-21T12:00:00.000Z") + seq * 1000).toISOString();
  return { seq, at, kind, source: "user", text, told: { sentence: "asked", about: [text] }, ...over };
}

const history = [
  mark(2, "repo", "project tally added: 10 files", { files: 10 }),
  mark(5, "prompt", "add --top", { run: RUN }),
  mark(8, "call", "edit_file bin/tally", { run: RUN, call: "call", files: 1 }),
  mark(9, "answer", "finished: done", { run: RUN }),
  mark(12, "checkpoint", "before lunch"),
  mark(14, "prompt", "and now?", { run: OTHER }),
];

it("merges what is read again or beside what is known, in order", () => {
  const verified = { ...(history[2] as Mark), verified: true };
  const merged = mergeMarks(history.slice(2), [history[1] as Mark, verified, history[0] as Mark], false);
  expect(merged.map((m) => m.seq)).toEqual([2, 5, 8, 9, 12, 14]);
  expect(merged[2]?.verified).toBe(true);
});

it("lets go of a mark that moved on, and keeps what was not read again", () => {
  const moved = mark(16, "windows", "you arranged a, b");
  const known = [...history, mark(15, "windows", "you opened a")];
  const seqs = (newest: boolean) =>
    mergeMarks([...known, mark(20, "prompt", "later")], [moved, history[5] as Mark], newest).map((m) => m.seq);
  expect(seqs(false)).toEqual([2, 5, 8, 9, 12, 14, 16, 20]);
  expect(seqs(true)).toEqual([2, 5, 8, 9, 12, 14, 16]);
  expect(mergeMarks(known, [], true)).toHaveLength(7);
});

it("finds the mark at or before a moment", () => {
  expect([1, 2, 4, 8, 99].map((seq) => placeOf(history, seq))).toEqual([-1, 0, 0, 2, 5]);
});

describe("the words of a mark", () => {
  const say = (m: Mark, marks = history) => wordsOf(m, marks, NOW);

  const told = (sentence: string, ...about: string[]) => ({ told: { sentence, about } });

  it.each([
    [mark(1, "prompt", "hello"), "You asked: hello"],
    [mark(1, "checkpoint", "", told("checkpointOf", "before lunch")), "Checkpoint: before lunch"],
    [mark(1, "answer", "", told("runStopped")), "You stopped the run"],
    [mark(1, "windows", "", told("youArranged", "home", "a.txt")), "You arranged home, a.txt"],
  ])("%o", (m, words) => expect(say(m)).toBe(words));

  it("tell when one went back to, and what was undone", () => {
    const back = mark(20, "rewind", "rewound to event 9: 3 paths", { files: 3, to_seq: 9, ...told("wentBack") });
    const undone = mark(23, "rewind", "rewound to event 19: 3 paths", { files: 3, to_seq: 19, ...told("wentBack") });
    const all = [...history, back, undone];
    expect(say(back, all)).toMatch(/^You went back to \d\d:\d\d:09$/);
    expect(say(undone, all)).toBe(`You undid: ${say(back, all)}`);
    expect(say(mark(30, "rewind", "rewound to event 1: 1 paths", { to_seq: 1, ...told("wentBack") }), history)).toBe(
      "You went back to event 1",
    );
    const alone = mark(31, "rewind", "rewound to event 30: 1 paths", {
      source: "system",
      to_seq: 30,
      ...told("restored"),
    });
    expect(say(alone, history)).toContain("The machine went down");
    expect(changedWords(back)).toBe("3 files changed");
  });
});

it("looks as its run or task ended", () => {
  const ended = (sentence: string) => outcomeOf({ told: { sentence } });
  expect(ended("runDone")).toBe("done");
  expect(["runFailed", "runFailedSaid", "taskFailed"].map(ended)).toEqual(["failed", "failed", "failed"]);
  expect(ended("runStopped")).toBe("cancelled");
  expect(ended("taskDone")).toBe("done");
  expect([ended("asked"), ended("toString"), ended("")]).toEqual([undefined, undefined, undefined]);
});

it("takes back tasks that changed files, and calls", () => {
  expect(undoable(mark(1, "call", "x", { call: "call", task: TASK }))).toBe("call");
  expect(undoable(mark(1, "task", "x", { task: TASK, files: 1 }))).toBe(TASK);
  expect(undoable(mark(1, "task", "x", { task: TASK }))).toBeUndefined();
  expect(undoable(mark(1, "prompt", "x", { run: RUN }))).toBeUndefined();
});

it("groups what one run did under its prompt, newest first", () => {
  const rows = rowsOf(history, [{ id: RUN, prompt: "add --top\nplease" }]);
  expect(rows.map((r) => (r.is === "head" ? r.title : r.mark.seq))).toEqual(["A run", 14, 12, "add --top", 9, 8, 5, 2]);
  expect(new Set(rows.map((r) => r.key)).size).toBe(rows.length);
});

it("leaps to where the next run or lone mark begins, and to now", () => {
  const from = (at: number, by: 1 | -1) => leap(history, at, by);
  expect([0, 1, 2, 4, 5, 6].map((at) => from(at, 1))).toEqual([1, 4, 4, 5, 6, 6]);
  expect([6, 5, 4, 3, 1, 0].map((at) => from(at, -1))).toEqual([5, 4, 1, 1, 0, 0]);
});

it("shows runs as they stood", () => {
  const run = (first_seq: number, finished_at?: string) =>
    ({ id: RUN, first_seq, state: "failed", ...(finished_at ? { finished_at } : {}) }) as Run;
  const at = "2026-11-21T12:00:08.000Z";
  const runs = [run(9), run(7, "2026-11-21T12:00:09.000Z"), run(2, "2026-11-21T12:00:03.000Z")];
  expect(runsThen(runs, 8, at).map((r) => r.state)).toEqual(["running", "failed"]);
});
