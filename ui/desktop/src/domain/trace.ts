import type { Digest, Event, ID, ToolInput } from "#base/domain/contracts.ts";

/** What a step is. */
export type StepKind = "prompt" | "plan" | "task" | "tool" | "model" | "judge" | "question" | "end";

/** Text of a step: here, or in the blob store. */
export interface Content {
  is: "input" | "output";
  text?: string;
  blob?: Digest;
}

/** One step of a run. */
export interface Step {
  id: ID;
  kind: StepKind;
  who: "you" | "director" | "associate";
  title: string;
  /** The step this one belongs to. */
  parent: ID | undefined;
  /** Milliseconds since the run began; `to` is absent while it goes on. */
  from: number;
  to?: number;
  /** Absent while it goes on, and for what ended because the run was stopped. */
  ok?: boolean;
  stopped?: true;
  content: Content[];
  tokens?: { input: number; output: number; cached: number };
  cost?: number;
  recorded?: boolean;
}

/** A whole run, step by step. */
export interface Trace {
  steps: Step[];
  /** Milliseconds from the first event to the last. */
  span: number;
  tokens: { input: number; output: number; cached: number };
  cost: number;
  outcome?: "done" | "failed" | "cancelled";
}

/** What a tool was asked for, in one line. */
function askOf(tool: string, input: ToolInput): string {
  return `${tool} ${input.command ?? input.path ?? input.pattern ?? input.url ?? ""}`.trim();
}

const pretty = (value: object) => JSON.stringify(value, undefined, 2);
const text = (is: Content["is"], said: string | undefined): Content[] => (said ? [{ is, text: said }] : []);
const blob = (is: Content["is"], digest: Digest | undefined): Content[] => (digest ? [{ is, blob: digest }] : []);

/** The steps of a run, in the order in which they began. */
export function traceOf(events: readonly Event[]): Trace {
  const began = Date.parse(events[0]?.time ?? "");
  const steps = new Map<ID, Step>();
  const trace: Trace = { steps: [], span: 0, tokens: { input: 0, output: 0, cached: 0 }, cost: 0 };
  const root = events[0]?.id;
  let stopping = false;
  for (const event of events) {
    const at = Date.parse(event.time) - began;
    trace.span = Math.max(trace.span, at);
    stopping ||= event.type === "run.cancel_requested";
    read(event, { at, root, steps, trace, endOf: (ok) => (stopping && !ok ? { stopped: true } : { ok }) });
  }
  trace.steps = [...steps.values()];
  return trace;
}

interface Reading {
  at: number;
  root: ID | undefined;
  steps: Map<ID, Step>;
  trace: Trace;
  /** How a step ended: what fails once a person stopped the run was stopped. */
  endOf(ok: boolean): Pick<Step, "ok" | "stopped">;
}

function read(event: Event, { at, root, steps, trace, endOf }: Reading): void {
  const moment = (kind: StepKind, who: Step["who"], title: string, ok: boolean, content: Content[]) =>
    steps.set(event.id, {
      id: event.id,
      kind,
      who,
      title,
      parent: event.id === root ? undefined : (event.task ?? root),
      from: at,
      to: at,
      ...endOf(ok),
      content,
    });
  const begin = (id: ID, kind: StepKind, who: Step["who"], title: string, content: Content[]) =>
    steps.set(id, {
      id,
      kind,
      who,
      title,
      parent: event.task && event.task !== id ? event.task : root,
      from: at,
      content,
    });
  const end = (id: ID, ok: boolean, more: Content[]): Step | undefined => {
    const step = steps.get(id);
    if (step) Object.assign(step, { to: at, ...endOf(ok), content: [...step.content, ...more] });
    return step;
  };
  switch (event.type) {
    case "prompt.submitted":
      moment("prompt", "you", event.payload.text, true, text("input", event.payload.text));
      break;
    case "plan.made":
    case "plan.changed":
      moment("plan", "director", event.payload.goal, true, text("output", pretty(event.payload)));
      break;
    case "task.dispatched": {
      const { task } = event.payload;
      begin(task.task_id, "task", "associate", task.instruction, text("input", pretty(task)));
      break;
    }
    case "task.returned": {
      const { result } = event.payload;
      end(result.task_id, result.status === "ok", text("output", pretty(result)));
      break;
    }
    case "task.judged":
      moment(
        "judge",
        "director",
        event.payload.reason,
        event.payload.verdict === "accept",
        text("output", pretty(event.payload)),
      );
      break;
    case "tool.called": {
      const { call, tool, input } = event.payload;
      begin(call, "tool", "associate", askOf(tool, input), [
        ...text("input", pretty(input)),
        ...blob("input", input.blob),
      ]);
      break;
    }
    case "tool.returned": {
      const { call, ok, output, blob: whole } = event.payload;
      end(call, ok, [...text("output", output), ...blob("output", whole)]);
      break;
    }
    case "model.called": {
      const { call, caller, model, request } = event.payload;
      begin(call, "model", caller === "associate" ? "associate" : "director", model, blob("input", request));
      break;
    }
    case "model.returned": {
      const p = event.payload;
      const step = end(
        p.call,
        p.code === undefined,
        p.code ? text("output", p.error ?? p.code) : blob("output", p.response),
      );
      const tokens = { input: p.input_tokens, output: p.output_tokens, cached: p.cached_tokens };
      if (step) Object.assign(step, { tokens, cost: p.cost_usd, recorded: p.recorded ?? false });
      for (const name of ["input", "output", "cached"] as const) trace.tokens[name] += tokens[name];
      trace.cost += p.cost_usd;
      break;
    }
    case "question.asked":
      moment("question", "director", event.payload.question.text, true, text("output", event.payload.question.text));
      break;
    case "run.finished":
      trace.outcome = event.payload.outcome;
      moment(
        "end",
        "director",
        event.payload.answer || outcomeSaid(event.payload.outcome),
        event.payload.outcome === "done",
        text("output", event.payload.answer),
      );
  }
}

/** Where the nodes of a graph lie: a column for each depth, a row for each leaf. */
export function layout(steps: readonly Step[]): Map<ID, { column: number; row: number }> {
  const children = new Map<ID | undefined, Step[]>();
  const known = new Set(steps.map((s) => s.id));
  for (const step of steps) {
    const parent = step.parent && known.has(step.parent) ? step.parent : undefined;
    children.set(parent, [...(children.get(parent) ?? []), step]);
  }
  const places = new Map<ID, { column: number; row: number }>();
  let row = 0;
  const place = (step: Step, column: number) => {
    const own = children.get(step.id) ?? [];
    places.set(step.id, { column, row });
    if (own.length === 0) row++;
    for (const child of own) place(child, column + 1);
  };
  for (const step of children.get(undefined) ?? []) place(step, 0);
  return places;
}

/** An outcome as people call it. */
const outcomeSaid = (outcome: string) => (outcome === "cancelled" ? "stopped" : outcome);

/** A run as Markdown, for people. */
export function traceMarkdown(trace: Trace): string {
  const lines = trace.steps.map((s) => {
    const took = s.to === undefined ? "…" : `${s.to - s.from} ms`;
    const used = s.tokens ? `, ${s.tokens.input} + ${s.tokens.output} tokens` : "";
    const parts = s.content.map((c) => `\n**${c.is}**\n\n${c.text ? fence(c.text) : `blob \`${c.blob}\``}\n`);
    return `## ${s.kind}: ${s.title.replace(/\s+/g, " ").slice(0, 120)}\n\n${s.who}, at ${s.from} ms, ${took}${used}${s.stopped ? ", stopped" : s.ok === false ? ", failed" : ""}\n${parts.join("")}`;
  });
  const { input, output } = trace.tokens;
  return `# Run\n\n${outcomeSaid(trace.outcome ?? "running")}, ${trace.span} ms, ${input} + ${output} tokens, $${trace.cost.toFixed(4)}\n\n${lines.join("\n")}`;
}

/** A block of code that its own text cannot end. */
function fence(code: string): string {
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map((m) => m[0].length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}\n${code}\n${ticks}`;
}

/** The events of a run, one to a line. */
export function traceLines(events: readonly Event[]): string {
  return events.map((e) => `${JSON.stringify(e)}\n`).join("");
}
