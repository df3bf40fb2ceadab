import type { Event, ID, Time } from "./contracts";
import type { Checkpoint } from "./views";

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

const triggers: Record<string, string> = {
  task: "after a task",
  manual: "by hand",
  count: "after many tasks",
  time: "after some time",
  deploy: "before a deploy",
};

/** Checkpoints from the server and what the log tells beside them, newest first. */
export function timelineOf(checkpoints: readonly Checkpoint[], events: readonly Event[]): Moment[] {
  const moments = new Map<number, Moment>();
  for (const c of checkpoints) moments.set(c.seq, ofCheckpoint(c));
  for (const e of events) {
    const moment = ofEvent(e);
    if (moment) moments.set(moment.seq, moment);
  }
  return [...moments.values()].sort((a, b) => b.seq - a.seq);
}

function ofCheckpoint(c: Omit<Checkpoint, "id" | "snapshot">): Moment {
  const commit = c.commits?.[0]?.commit.slice(0, 7);
  const parts = [`Checkpoint ${triggers[c.trigger] ?? ""}`.trim(), commit ? `commit ${commit}` : "no commit needed"];
  if (c.withheld?.length) parts.push(`${c.withheld.length} kept out of the commit: looks like keys`);
  return {
    seq: c.seq,
    at: c.at,
    kind: "checkpoint",
    title: c.subject,
    detail: parts.join(" · "),
    verified: c.verified,
    target: c.seq,
    ...(c.run ? { run: c.run } : {}),
  };
}

function ofEvent(e: Event): Moment | undefined {
  switch (e.type) {
    case "checkpoint.created":
      return ofCheckpoint({ ...e.payload, seq: e.seq, at: e.time, ...(e.run ? { run: e.run } : {}) });
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
