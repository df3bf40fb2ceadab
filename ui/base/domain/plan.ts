import { tell } from "./basewords";
import type { PlanStep, VerifyOutcome } from "./contracts";
import { names } from "./names";
import type { Story, TaskStory } from "./story";
import { named } from "./words";

/** How a step of the plan stands. */
export type StepState = "waiting" | "working" | "judging" | "revising" | "done" | "failed" | "cancelled";

/** One step of the plan with the tasks that served it. */
export interface StepView {
  step: PlanStep;
  state: StepState;
  tasks: TaskStory[];
}

/** What verification says, for people. Unknown is never called verified. */
export function verdictOf(verify: VerifyOutcome | undefined): {
  tone: "good" | "bad" | "unsure" | "neutral";
  words: string;
} {
  switch (verify?.status) {
    case "pass":
      return { tone: "good", words: named(names.verified) };
    case "fail":
      return { tone: "bad", words: tell("verificationFailed") };
    default:
      return verify?.mode === "none"
        ? { tone: "neutral", words: named(names.noVerification) }
        : { tone: "unsure", words: named(names.notVerified) };
  }
}

/** The plan's steps with their tasks, then tasks that no step asked for. */
export function stepsOf(story: Story): { steps: StepView[]; loose: TaskStory[] } {
  const known = new Set(story.plan?.steps.map((s) => s.id));
  const steps = (story.plan?.steps ?? []).map((step) => {
    const tasks = story.tasks.filter((t) => t.step === step.id);
    return { step, tasks, state: stateOf(tasks, story) };
  });
  return { steps, loose: story.tasks.filter((t) => !known.has(t.step)) };
}

function stateOf(tasks: TaskStory[], story: Story): StepState {
  const last = tasks.at(-1);
  const over = story.finished !== undefined;
  if (!last) return "waiting";
  if (last.judgement?.verdict === "accept") return "done";
  if (last.judgement?.verdict === "abort") return "failed";
  if (over) return story.state === "done" || story.state === "cancelled" ? story.state : "failed";
  if (last.judgement?.verdict === "revise") return "revising";
  return last.state === "returned" ? "judging" : "working";
}
