import type {
  AssociateResult,
  BudgetReached,
  CheckpointCreated,
  Digest,
  DirectorTask,
  EgressRefused,
  Event,
  EventOf,
  ID,
  PlanMade,
  Question,
  RunFinished,
  TaskJudged,
  Time,
  ToolInput,
} from "./contracts";
import type { RunState, Usage } from "./views";

/** One tool call of a task. */
export interface ToolStory {
  call: ID;
  tool: string;
  input: ToolInput;
  at: Time;
  /** Undefined while it runs. */
  ok?: boolean;
  code?: string;
  output?: string;
  exitCode?: number;
  durationMs?: number;
}

/** One task, from its dispatch to its judgement. */
export interface TaskStory {
  id: ID;
  step: string;
  task: DirectorTask;
  state: "dispatched" | "started" | "returned";
  attempt: number;
  dispatchedAt: Time;
  tools: ToolStory[];
  notes: { kind: string; text: string; at: Time }[];
  result?: AssociateResult;
  judgement?: TaskJudged;
  checkpoint?: CheckpointCreated;
}

/** One version of the run's document; its text may be in a blob. */
export interface VersionStory {
  version: number;
  content?: string;
  blob?: Digest;
  note?: string;
  at: Time;
}

/** One question and, once given, its answer. */
export interface QuestionStory {
  question: Question;
  answer?: string;
}

/** All that is known of a run, made from its events alone. */
export interface Story {
  run: ID;
  /** The last event that is in it. */
  seq: number;
  prompt: string;
  repo?: string;
  recorded: boolean;
  /** The recording plays at the pace of a reader. */
  paced: boolean;
  /** Its answer is to lie over a document as a proposal, once it does in `proposedOver`. */
  proposes: boolean;
  proposedOver?: ID;
  state: RunState;
  startedAt: Time;
  finishedAt?: Time;
  finished?: RunFinished;
  plan?: PlanMade;
  refusedPlans: string[][];
  tasks: TaskStory[];
  questions: QuestionStory[];
  steering: { text: string; at: Time }[];
  document?: { id: ID; title: string; versions: VersionStory[] };
  toasts: { text: string; signature: string }[];
  egress: EgressRefused[];
  budgets: BudgetReached[];
  usage: Usage;
  stopping: boolean;
  /** It begins nothing more until its owner lets it go on. */
  paused: boolean;
}

const noUsage: Usage = {
  calls: 0,
  failed: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  cost_usd: 0,
  duration_ms: 0,
};

/** A story of which nothing is known yet. */
export function emptyStory(run: ID): Story {
  return {
    run,
    seq: 0,
    prompt: "",
    recorded: false,
    paced: false,
    proposes: false,
    state: "planning",
    startedAt: "",
    refusedPlans: [],
    tasks: [],
    questions: [],
    steering: [],
    toasts: [],
    egress: [],
    budgets: [],
    usage: noUsage,
    stopping: false,
    paused: false,
  };
}

/** Tells the story on. An event that is in it already changes nothing. */
export function tell(story: Story, event: Event): Story {
  if (event.seq <= story.seq || event.run !== story.run) return story;
  return { ...step(story, event), seq: event.seq };
}

/** A plan whose steps that are not accepted are others now. */
function changed(s: Story, { goal, steps }: PlanMade): PlanMade {
  const isAccepted = (id: string) => s.tasks.findLast((t) => t.step === id)?.judgement?.verdict === "accept";
  return { goal, steps: [...(s.plan?.steps.filter((one) => isAccepted(one.id)) ?? []), ...steps] };
}

function step(s: Story, e: Event): Story {
  switch (e.type) {
    case "prompt.submitted":
      return {
        ...s,
        prompt: e.payload.text,
        recorded: Boolean(e.payload.recording),
        paced: Boolean(e.payload.paced),
        proposes: Boolean(e.payload.proposal),
        startedAt: e.time,
        ...(e.payload.repo ? { repo: e.payload.repo } : {}),
      };
    case "plan.made":
      return { ...s, plan: e.payload, state: "running" };
    case "plan.changed":
      return { ...s, plan: changed(s, e.payload) };
    case "plan.refused":
      return { ...s, refusedPlans: [...s.refusedPlans, e.payload.problems] };
    case "run.cancel_requested":
      return { ...s, stopping: true };
    case "run.paused":
    case "run.resumed":
      return { ...s, paused: e.type === "run.paused" };
    case "run.finished":
      return {
        ...s,
        finished: e.payload,
        finishedAt: e.time,
        state: e.payload.outcome,
        stopping: false,
        paused: false,
      };
    case "steering.submitted":
      return { ...s, steering: [...s.steering, { text: e.payload.text, at: e.time }] };
    case "question.asked":
      return { ...s, state: "waiting", questions: [...s.questions, { question: e.payload.question }] };
    case "question.answered":
      return answered(s, e);
    case "overlay.added":
      return e.source === "director" && e.payload.kind === "proposal" ? { ...s, proposedOver: e.payload.document } : s;
    case "toast.shown":
      return { ...s, toasts: [...s.toasts, e.payload] };
    case "egress.refused":
      return { ...s, egress: [...s.egress, e.payload] };
    case "budget.reached":
      return { ...s, budgets: [...s.budgets, e.payload] };
    case "model.returned":
      return { ...s, usage: addUsage(s.usage, e.payload) };
    case "document.created":
    case "document.versioned":
      return { ...s, ...withDocument(s, e) };
    default:
      return inTask(s, e);
  }
}

function answered(s: Story, e: EventOf<"question.answered">): Story {
  const questions = s.questions.map((q) =>
    q.question.id === e.payload.question && q.answer === undefined ? { ...q, answer: e.payload.text } : q,
  );
  const waits = questions.some((q) => q.answer === undefined);
  return { ...s, questions, state: waits ? "waiting" : s.plan ? "running" : "planning" };
}

function addUsage(u: Usage, r: EventOf<"model.returned">["payload"]): Usage {
  return {
    calls: u.calls + 1,
    failed: u.failed + (r.code ? 1 : 0),
    input_tokens: u.input_tokens + r.input_tokens,
    output_tokens: u.output_tokens + r.output_tokens,
    cached_tokens: u.cached_tokens + r.cached_tokens,
    cost_usd: u.cost_usd + r.cost_usd,
    duration_ms: u.duration_ms + r.duration_ms,
  };
}

function withDocument(s: Story, e: EventOf<"document.created"> | EventOf<"document.versioned">): Partial<Story> {
  if (e.type === "document.created") {
    // The first one is the run's record; a later one was asked for, and the run's end names it.
    if (s.document) return {};
    const { document, title, content } = e.payload;
    return { document: { id: document, title, versions: [{ version: 0, content, at: e.time }] } };
  }
  if (!s.document || s.document.id !== e.payload.document) return {};
  const { version, content, blob, note } = e.payload;
  const added: VersionStory = {
    version,
    at: e.time,
    ...(content !== undefined ? { content } : {}),
    ...(blob ? { blob } : {}),
    ...(note ? { note } : {}),
  };
  return { document: { ...s.document, versions: [...s.document.versions, added] } };
}

function inTask(s: Story, e: Event): Story {
  switch (e.type) {
    case "task.dispatched":
      return {
        ...s,
        state: s.state === "planning" ? "running" : s.state,
        tasks: [...s.tasks.filter((t) => t.id !== e.payload.task.task_id), newTask(e)],
      };
    case "task.started":
      return change(s, e.task, (t) => ({ ...t, state: "started", attempt: e.payload.attempt }));
    case "task.progressed":
      return change(s, e.task, (t) => ({
        ...t,
        notes: [...t.notes, { kind: e.payload.request ?? e.payload.kind, text: e.payload.text, at: e.time }],
      }));
    case "task.returned":
      return change(s, e.payload.result.task_id, (t) => ({ ...t, state: "returned", result: e.payload.result }));
    case "task.judged":
      return change(s, e.payload.task, (t) => ({ ...t, judgement: e.payload }));
    case "checkpoint.created":
      return change(s, e.task, (t) => ({ ...t, checkpoint: e.payload }));
    case "tool.called":
      return change(s, e.task, (t) => ({
        ...t,
        tools: [...t.tools, { call: e.payload.call, tool: e.payload.tool, input: e.payload.input, at: e.time }],
      }));
    case "tool.returned":
      return change(s, e.task, (t) => ({ ...t, tools: t.tools.map((tool) => returned(tool, e.payload)) }));
    default:
      return s;
  }
}

function newTask(e: EventOf<"task.dispatched">): TaskStory {
  return {
    id: e.payload.task.task_id,
    step: e.payload.step ?? "",
    task: e.payload.task,
    state: "dispatched",
    attempt: 0,
    dispatchedAt: e.time,
    tools: [],
    notes: [],
  };
}

function returned(tool: ToolStory, p: EventOf<"tool.returned">["payload"]): ToolStory {
  if (tool.call !== p.call) return tool;
  return {
    ...tool,
    ok: p.ok,
    durationMs: p.duration_ms,
    ...(p.code ? { code: p.code } : {}),
    ...(p.output ? { output: p.output } : {}),
    ...(p.exit_code !== undefined ? { exitCode: p.exit_code } : {}),
  };
}

function change(s: Story, task: ID | undefined, how: (t: TaskStory) => TaskStory): Story {
  if (!task) return s;
  return { ...s, tasks: s.tasks.map((t) => (t.id === task ? how(t) : t)) };
}
