import { describe, expect, it } from "vitest";
import type { AssociateResult, DirectorTask, Event } from "./contracts";
import { stepsOf, verdictOf } from "./plan";
import { emptyStory, tell } from "./story";
import { event, RUN, TASK } from "./testing";

const task: DirectorTask = { version: 1, task_id: TASK, run_id: RUN, kind: "edit_repo", instruction: "Do it" };
const result: AssociateResult = {
  version: 1,
  task_id: TASK,
  run_id: RUN,
  status: "ok",
  summary: "Did it",
  diff: null,
  files_changed: [],
  commands_run: [],
  verify: { mode: "smoke", status: "pass" },
  artifacts: [],
  usage: {
    input_tokens: 1,
    output_tokens: 1,
    cached_tokens: 0,
    cost_usd: 0,
    wall_ms: 5,
    cpu_ms: 1,
    max_rss_bytes: 1,
    egress_bytes: 0,
  },
  checkpoint: null,
  questions: [],
  suggested_next: null,
};
const step = {
  id: "one",
  title: "One",
  kind: "edit_repo" as const,
  instruction: "Do it",
  acceptance_criteria: ["done"],
};
const inRun = { run: RUN };
const inTask = { run: RUN, task: TASK };
const call = "01900000-0000-7000-8000-00000000000c";

const whole: Event[] = [
  event(1, "prompt.submitted", { text: "Please", repo: "tally", recording: "ab" }, inRun),
  event(2, "plan.made", { goal: "All", steps: [step] }, inRun),
  event(3, "document.created", { document: "d", title: "Please", content: "# Please" }, inRun),
  event(4, "task.dispatched", { task, step: "one" }, inRun),
  event(5, "task.started", { base: "", attempt: 1 }, inTask),
  event(6, "tool.called", { call, tool: "bash", input: { command: "ls" }, writes: true }, inTask),
  event(7, "tool.returned", { call, ok: true, duration_ms: 3, output: "a" }, inTask),
  event(8, "task.returned", { result }, inTask),
  event(9, "document.versioned", { document: "d", version: 1, content: "# More", note: "a step" }, inRun),
  event(10, "question.asked", { question: { id: "q1", text: "Sure?" } }, inRun),
  event(11, "question.answered", { question: "q1", text: "Yes" }, inRun),
  event(12, "task.judged", { task: TASK, step: "one", verdict: "accept", criteria: [], reason: "fine" }, inTask),
  event(13, "run.finished", { outcome: "done", answer: "Done", signature: "s" }, inRun),
];

const upTo = (seq: number) => whole.filter((e) => e.seq <= seq).reduce(tell, emptyStory(RUN));

describe("tell", () => {
  it("follows a run from its prompt to its answer", () => {
    expect([1, 2, 10, 11, 13].map((n) => upTo(n).state)).toEqual(["planning", "running", "waiting", "running", "done"]);
  });
  it("keeps accepted steps when the plan is changed, and shows tasks of dropped ones as loose", () => {
    const other = { ...step, id: "two" };
    const changed = (seq: number) => event(seq, "plan.changed", { goal: "Less", steps: [other] }, inRun);
    const ids = (story: ReturnType<typeof upTo>) => stepsOf(story).steps.map((one) => one.step.id);
    expect(ids(tell(upTo(12), changed(13)))).toEqual(["one", "two"]);
    const dropped = tell(upTo(8), changed(9));
    expect([dropped.plan?.goal, ids(dropped), stepsOf(dropped).loose.map((t) => t.step)]).toEqual([
      "Less",
      ["two"],
      ["one"],
    ]);
  });
  it("says that the model's words are a recording", () => expect(upTo(1).recorded).toBe(true));
  it("keeps every version of the document", () => {
    expect(upTo(13).document?.versions.map((v) => [v.version, v.content])).toEqual([
      [0, "# Please"],
      [1, "# More"],
    ]);
  });
  it("joins a tool's return to its call", () => {
    expect(upTo(6).tasks[0]?.tools[0]?.ok).toBeUndefined();
    expect(upTo(7).tasks[0]?.tools[0]).toMatchObject({ ok: true, output: "a", durationMs: 3 });
  });
  it("takes an event once and none of another run", () => {
    const story = upTo(13);
    expect(whole.reduce(tell, story)).toBe(story);
    expect(tell(story, event(14, "plan.refused", { problems: ["x"] }, { run: "other" }))).toBe(story);
  });
});

describe("stepsOf", () => {
  it("says how far a step is", () => {
    expect([2, 4, 8, 12].map((n) => stepsOf(upTo(n)).steps[0]?.state)).toEqual([
      "waiting",
      "working",
      "judging",
      "done",
    ]);
  });
});

describe("verdictOf", () => {
  it("never calls unknown verified", () => {
    expect(verdictOf({ mode: "smoke", status: "unknown" })).toEqual({ tone: "unsure", words: "Not verified" });
    expect(verdictOf({ mode: "none", status: "unknown" }).words).toBe("No verification planned");
    expect(verdictOf(undefined).tone).toBe("unsure");
    expect(verdictOf(result.verify).words).toBe("Verified");
  });
});
