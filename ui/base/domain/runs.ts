import type { Event, EventOf, Time } from "./contracts";
import type { Run, RunState } from "./views";

const noUsage = {
  calls: 0,
  failed: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  cost_usd: 0,
  duration_ms: 0,
};

/** The list of runs, newest first, after one more event. */
export function listRuns(runs: readonly Run[], event: Event): readonly Run[] {
  if (event.type === "timeline.undone") return undo(runs, event);
  if (event.type === "timeline.rewound") return rewind(runs, event);
  if (!event.run) return runs;
  if (event.type === "prompt.submitted") return begin(runs, event);
  const at = runs.findIndex((r) => r.id === event.run);
  const run = runs[at];
  if (!run || event.seq <= run.last_seq) return runs;
  const next = [...runs];
  next[at] = advance(run, event);
  return next;
}

function begin(runs: readonly Run[], event: Extract<Event, { type: "prompt.submitted" }>): readonly Run[] {
  if (!event.run || runs.some((r) => r.id === event.run)) return runs;
  const run: Run = {
    id: event.run,
    prompt: event.payload.text,
    source: event.source,
    state: "planning",
    first_seq: event.seq,
    last_seq: event.seq,
    started_at: event.time,
    usage: noUsage,
  };
  if (event.payload.repo) run.repo = event.payload.repo;
  if (event.payload.paced) run.paced = true;
  if (event.payload.after) run.after = event.payload.after;
  return [run, ...runs];
}

function undo(runs: readonly Run[], event: EventOf<"timeline.undone">): readonly Run[] {
  const undone = { seq: event.seq, at: event.time };
  return runs.map((r) => (r.id === event.payload.of && (r.undone?.seq ?? 0) < event.seq ? { ...r, undone } : r));
}

/** Drops the undos that a rewind takes back. Whether it puts an earlier one in force again only the server knows. */
function rewind(runs: readonly Run[], event: EventOf<"timeline.rewound">): readonly Run[] {
  return runs.map((r) => (r.undone && r.undone.seq < event.seq && r.undone.seq > event.payload.to_seq ? still(r) : r));
}

/** Takes over which runs are undone from a list that was read after an event; what was heard later stands. */
export function undoneAsRead(runs: readonly Run[], read: readonly Run[], since: number): readonly Run[] {
  const undone = new Map(read.map((r) => [r.id, r.undone]));
  return runs.map((r) => {
    if ((r.undone?.seq ?? 0) > since || !undone.has(r.id)) return r;
    const said = undone.get(r.id);
    return said ? { ...r, undone: said } : still(r);
  });
}

/** A run that is not undone. */
function still({ undone, ...run }: Run): Run {
  return run;
}

function advance(run: Run, event: Event): Run {
  const next = { ...run, last_seq: event.seq };
  switch (event.type) {
    case "plan.made":
    case "task.dispatched":
      return { ...next, state: open(run.state, "running") };
    case "question.asked":
      return { ...next, state: open(run.state, "waiting"), question: event.payload.question };
    case "effect.held":
      return { ...next, state: open(run.state, "waiting") };
    case "question.answered":
    case "effect.answered":
      return { ...next, state: open(run.state, "running") };
    case "run.paused":
      return { ...next, paused_seq: event.seq };
    case "run.resumed":
      return { ...next, paused_seq: 0 };
    case "run.dismissed":
      return { ...next, dismissed: true };
    case "run.finished":
      return {
        ...next,
        state: event.payload.outcome,
        finished_at: event.time,
        answer: event.payload.answer,
        ...(event.payload.code ? { code: event.payload.code } : {}),
        ...(event.payload.status ? { status: event.payload.status } : {}),
      };
    default:
      return next;
  }
}

function open(now: RunState, next: RunState): RunState {
  return now === "planning" || now === "running" || now === "waiting" ? next : now;
}

/** The runs that had begun by an event, as far as they had come then. */
export function runsThen(runs: readonly Run[], seq: number, at: Time): Run[] {
  return runs
    .filter((r) => r.first_seq <= seq)
    .map((r) => {
      if (r.finished_at && r.finished_at <= at) return r;
      const { finished_at, answer, ...then } = r;
      return { ...then, state: "running" };
    });
}
