import type { Event, ID, Time } from "./contracts";
import type { Checkpoint, Run } from "./views";

/** One moment that can be looked at or gone back to. */
export interface Moment {
  seq: number;
  at: Time;
  kind: "checkpoint" | "rewind" | "repo";
  title: string;
  detail: string;
  verified?: boolean;
  run?: ID;
  /** The event to go back to; for a rewind the one before it, which undoes it. */
  target: number;
}

type Prompts = ReadonlyMap<ID, string>;

/** A subject that only says when; the prompt of its run says more. */
const plain = /^checkpoint: [\d-]+$/;

const triggers: Record<string, string> = {
  task: "after a task",
  manual: "by hand",
  count: "after many tasks",
  time: "after some time",
  deploy: "before a deploy",
};

/** Checkpoints from the server and what the log tells beside them, newest first. */
export function timelineOf(
  checkpoints: readonly Checkpoint[],
  events: readonly Event[],
  runs: readonly Pick<Run, "id" | "prompt">[],
): Moment[] {
  const prompts = new Map(runs.map((r) => [r.id, r.prompt]));
  const moments = new Map<number, Moment>();
  for (const c of checkpoints) moments.set(c.seq, ofCheckpoint(c, prompts));
  for (const e of events) {
    const moment = ofEvent(e, prompts);
    if (moment) moments.set(moment.seq, moment);
  }
  return [...moments.values()].sort((a, b) => b.seq - a.seq);
}

function ofCheckpoint(c: Omit<Checkpoint, "id" | "snapshot">, prompts: Prompts): Moment {
  const commit = c.commits?.[0]?.commit.slice(0, 7);
  const parts = [`Checkpoint ${triggers[c.trigger] ?? ""}`.trim(), commit ? `commit ${commit}` : "no commit needed"];
  if (c.withheld?.length) parts.push(`${c.withheld.length} kept out of the commit: looks like keys`);
  return {
    seq: c.seq,
    at: c.at,
    kind: "checkpoint",
    title: plain.test(c.subject) ? (prompts.get(c.run ?? "") ?? c.subject) : c.subject,
    detail: parts.join(" · "),
    verified: c.verified,
    target: c.seq,
    ...(c.run ? { run: c.run } : {}),
  };
}

function ofEvent(e: Event, prompts: Prompts): Moment | undefined {
  switch (e.type) {
    case "checkpoint.created":
      return ofCheckpoint({ ...e.payload, seq: e.seq, at: e.time, ...(e.run ? { run: e.run } : {}) }, prompts);
    case "timeline.rewound": {
      const n = e.payload.files;
      return {
        seq: e.seq,
        at: e.time,
        kind: "rewind",
        title: `Rewound files to event ${e.payload.to_seq}`,
        detail: `${n} ${n === 1 ? "path" : "paths"} rewritten · what happened in between is still in the log`,
        target: e.seq - 1,
      };
    }
    case "repo.added":
      return {
        seq: e.seq,
        at: e.time,
        kind: "repo",
        title: `Project ${e.payload.name} added`,
        detail: `${e.payload.files} files${e.payload.head ? ` · at ${e.payload.head.slice(0, 7)}` : ""}`,
        target: e.seq,
      };
    default:
      return undefined;
  }
}
