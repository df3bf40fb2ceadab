import { describe, expect, it } from "vitest";
import type { AssociateResult, DirectorTask, Event, FileChange, PlanStep } from "#base/domain/contracts.ts";
import { listRuns } from "#base/domain/runs.ts";
import { emptyStory, type Story, tell } from "#base/domain/story.ts";
import { event, RUN, TASK } from "#base/domain/testing.ts";
import type { Run } from "#base/domain/views.ts";
import { CARDS, cardOf, gist, stackOf, stateOf } from "./card";

const over = { run: RUN, source: "desktop" } as const;
const began = event(1, "prompt.submitted", { text: "Write a story" }, over);
const planned = event(2, "plan.made", { goal: "A story", steps: [step("a"), step("b")] }, { run: RUN });

function step(id: string): PlanStep {
  return { id, title: `Step ${id}`, kind: "edit_repo", instruction: "Do it", acceptance_criteria: ["done"] };
}

const ofTask = (id: string) => ({ run: RUN, task: id });

function task(seq: number, id: string, files: FileChange[], status: AssociateResult["status"] = "ok"): Event[] {
  const task = { version: 1, task_id: id, run_id: RUN, kind: "edit_repo", instruction: "Do it now" } as DirectorTask;
  const result = { task_id: id, run_id: RUN, status, files_changed: files, diff: { content: id }, summary: "" };
  return [
    event(seq, "task.dispatched", { task, step: "a" }, ofTask(id)),
    event(seq + 1, "task.returned", { result: result as unknown as AssociateResult }, ofTask(id)),
  ];
}

const finished = (seq: number, answer = "There.") =>
  event(seq, "run.finished", { outcome: "done", answer }, { run: RUN, time: "2026-11-21T02:29:00.000Z" });

function after(...events: Event[]): { run: Run; story: Story } {
  const runs = [began, ...events].reduce(listRuns, [] as readonly Run[]);
  const [run] = runs;
  if (!run) throw new Error("there is no run");
  return { run, story: [began, ...events].reduce(tell, emptyStory(RUN)) };
}

function card(...events: Event[]) {
  const { run, story } = after(...events);
  return cardOf(run, story);
}

it("has the plain words of a model that ended a run without a tool", () => {
  const answer = "It only talked.";
  const failed = event(3, "run.finished", { outcome: "failed", answer, said: "Paris." }, { run: RUN });
  expect(card(failed)).toMatchObject({ answer, said: "Paris." });
  expect(card(finished(3)).said).toBeUndefined();
});

it("leads to what was asked for, before the record", () => {
  const record = event(3, "document.created", { document: "d1", title: "Asked", content: "" }, { run: RUN });
  const asked = event(4, "document.created", { document: "d2", title: "Report", content: "It is." }, { run: RUN });
  const finishedWith = (more: object) =>
    event(5, "run.finished", { outcome: "done", answer: "See it.", ...more }, { run: RUN });
  expect(card(record, asked, finishedWith({ document: "d2" }))).toMatchObject({ document: "d1", made: "document:d2" });
  expect(card(record, finishedWith({ file: "artifacts/a.md" }))).toMatchObject({
    document: "d1",
    made: "artifacts/a.md",
  });
  expect(card(record, finishedWith({})).made).toBeUndefined();
});

it("says how much of what was asked is done, when that is not all", () => {
  for (const status of ["partly", "not_done"] as const) {
    const ended = event(3, "run.finished", { outcome: "done", answer: "So it is.", status }, { run: RUN });
    const { run, story } = after(ended);
    expect(stateOf(cardOf(run, story))).toBe(status);
    expect(stateOf(cardOf(run))).toBe(status);
  }
});

it("says that what it changed was taken back", () => {
  const undone = event(4, "timeline.undone", { of: RUN, snapshot: "", before: "", files: 1 });
  const rewound = event(5, "timeline.rewound", { to_seq: 3, snapshot: "", before: "", files: 1 });
  expect(card(finished(3)).undone).toBeUndefined();
  expect(card(finished(3), undone).undone).toEqual({ seq: 4, at: undone.time });
  expect(card(finished(3), undone, rewound).undone).toBeUndefined();
  expect([card(finished(3)), card(finished(3), undone), card(finished(3), undone, rewound)].map(stateOf)).toEqual([
    "done",
    "undone",
    "done",
  ]);
});

describe("a run at work", () => {
  it("is planned first", () => {
    expect(card()).toMatchObject({ state: "planning", now: { kind: "planning" }, steps: [], quiet: false });
  });

  it("shows its steps, and the tool that is used", () => {
    const [dispatched] = task(3, TASK, []);
    const called = event(
      4,
      "tool.called",
      { call: "c", tool: "bash", input: { command: "make\n test" }, writes: true },
      ofTask(TASK),
    );
    const at = card(planned, dispatched as Event, called);
    expect(at.steps.map((s) => s.state)).toEqual(["working", "waiting"]);
    expect(at.now).toMatchObject({ kind: "tool", text: "bash make test" });
    const returned = event(5, "tool.returned", { call: "c", ok: true, duration_ms: 1 }, ofTask(TASK));
    const said = event(6, "task.progressed", { kind: "progress", text: "Now the tests." }, ofTask(TASK));
    expect(card(planned, dispatched as Event, called, returned).now).toMatchObject({ kind: "task", text: "Do it now" });
    expect(card(planned, dispatched as Event, called, returned, said).now).toMatchObject({
      kind: "said",
      text: "Now the tests.",
    });
    expect(card(planned, ...task(3, TASK, [])).now).toMatchObject({ kind: "judging" });
  });

  it("asks until it is answered, and tells no answer", () => {
    const question = { id: "q", text: "Which?", choices: ["Blue"] };
    const asked = event(3, "question.asked", { question }, { run: RUN });
    expect(card(asked)).toMatchObject({ state: "waiting", question, now: { kind: "waiting" } });
    const answered = event(4, "question.answered", { question: "q", text: "Blue" }, { run: RUN });
    expect(card(asked, answered).question).toBeUndefined();
    expect(card(asked, finished(4)).question).toBeUndefined();
  });
});

describe("a run that has ended", () => {
  const changed = (...changes: FileChange[][]) =>
    card(planned, ...changes.flatMap((files, i) => task(3 + 2 * i, `t${i}`, files)), finished(90)).files.map(
      ({ diffs, ...file }) => ({ ...file, diffs: diffs.map((d) => d.content) }),
    );

  it("shows the answer until it is put away, with what the run cost", () => {
    const cost = event(
      3,
      "model.returned",
      {
        call: "c",
        caller: "director",
        provider: "p",
        model: "m",
        input_tokens: 1,
        output_tokens: 1,
        cached_tokens: 0,
        cost_usd: 0.25,
        duration_ms: 1,
      },
      { run: RUN },
    );
    expect(card(cost, finished(4))).toMatchObject({ state: "done", answer: "There.", cost: 0.25 });
    const { run, story } = after(finished(4), event(5, "run.dismissed", {}, { run: RUN }));
    expect(stackOf([run], { [RUN]: story }, {})).toEqual([]);
  });

  it("shows a failure with its cause in full", () => {
    const answer = `The model could not be used: ${"because ".repeat(100)}.`;
    const failed = event(4, "run.finished", { outcome: "failed", code: "unavailable", answer }, { run: RUN });
    expect(card(failed)).toMatchObject({ state: "failed", code: "unavailable", answer });
  });

  it("lists each file once, with every diff it is in", () => {
    expect(
      changed(
        [
          { path: "b", change: "modified" },
          { path: "a", change: "added" },
        ],
        [{ path: "a", change: "modified" }],
      ),
    ).toEqual([
      { path: "a", change: "added", diffs: ["t0", "t1"] },
      { path: "b", change: "modified", diffs: ["t0"] },
    ]);
  });

  it("follows a file that was moved, and leaves out what was made and removed again", () => {
    expect(changed([{ path: "new", from: "old", change: "renamed" }], [{ path: "new", change: "modified" }])).toEqual([
      { path: "new", from: "old", change: "renamed", diffs: ["t0", "t1"] },
    ]);
    expect(changed([{ path: "a", change: "added" }], [{ path: "a", change: "deleted" }])).toEqual([]);
    expect(changed([{ path: "a", change: "deleted" }], [{ path: "a", change: "added" }])).toMatchObject([
      { path: "a", change: "modified" },
    ]);
  });

  it("lists nothing of a task that was put back", () => {
    expect(card(planned, ...task(3, TASK, [{ path: "a", change: "added" }], "failed"), finished(9)).files).toEqual([]);
  });

  it("names the document over which its answer lies, and is quiet", () => {
    const proposal = { document: "d", version: 1, anchor: {} };
    const asked = event(1, "prompt.submitted", { text: "Correct it", proposal }, over);
    const lies = event(
      2,
      "overlay.added",
      { overlay: "o", document: "d", version: 1, kind: "proposal", anchor: {}, text: "x" },
      { run: RUN, source: "director" },
    );
    const events = [asked, lies, finished(3)];
    const [run] = events.reduce(listRuns, [] as readonly Run[]);
    if (!run) throw new Error("there is no run");
    expect(cardOf(run, events.reduce(tell, emptyStory(RUN)))).toMatchObject({ proposedOver: "d", quiet: true });
  });
});

describe("the stack of cards", () => {
  const runOf = (n: number, source: Run["source"], dismissed = false): Run => {
    const { run } = after();
    return { ...run, id: `r${n}`, first_seq: n, source: source ?? "user", dismissed };
  };
  const stories = (runs: readonly Run[]) =>
    Object.fromEntries(runs.map((r) => [r.id, tell(emptyStory(r.id), { ...began, run: r.id })]));
  const shown = (runs: readonly Run[], chosen = {}) =>
    stackOf(runs, stories(runs), chosen).map(({ card, unfolded }) => `${card.run}${unfolded ? " unfolded" : ""}`);

  it("unfolds the newest that was begun here; others are lines, those from elsewhere too", () => {
    expect(shown([runOf(4, "user"), runOf(3, "desktop"), runOf(2, "desktop"), runOf(1, "user")])).toEqual([
      "r1",
      "r2",
      "r3 unfolded",
      "r4",
    ]);
  });

  it("is as somebody folded it", () => {
    expect(shown([runOf(2, "desktop"), runOf(1, "user")], { r1: true, r2: false })).toEqual(["r1 unfolded", "r2"]);
  });

  it("has no more than the newest, and none that was put away", () => {
    const many = Array.from({ length: CARDS + 5 }, (_, i) => runOf(100 - i, "user", i === 0));
    expect(shown(many)).toHaveLength(CARDS);
    expect(shown(many).at(-1)).toBe("r99");
  });
});

it("says an answer on one line without its marks", () => {
  expect(gist("# Done\n\nThe `note` is **written**, <b>not</b> sent; 2 * 3 < 7.")).toBe(
    "Done The note is written, not sent; 2 * 3 < 7.",
  );
  const long =
    "> ## Two *new* files\n\n- [ ] see [the notes](notes.md)\n* `*.txt` of __init__\n\n---\n\n```sh\nls -l | wc\n```\n";
  expect(gist(long)).toBe("Two new files see the notes *.txt of __init__ ls -l | wc");
});
