import type { Schema } from "./operations";

/** A run as the server lists it. */
export type Run = Schema<"EventstoreRun">;

/** Where a run stands. */
export type RunState = Run["state"];

/** Tokens and money of a run. */
export type Usage = Schema<"EventstoreUsage">;

/** A snapshot with a name. */
export type Checkpoint = Schema<"EventstoreCheckpoint">;

/** A task as the server shows it. */
export type Task = Schema<"EventstoreTask">;

/** How well a sandbox is isolated. */
export type Level = Schema<"SandboxLevel">;

/** One sandbox of a computer. */
export type Sandbox = Schema<"SandboxView">;

/** Whether a model is connected, with one sentence for people. */
export type ModelState = Schema<"ModelState">;

/** One computer as its owner sees it. */
export type Computer = Schema<"ComputerView">;

/** A moment worth a place on the timeline. */
export type Mark = Schema<"ComputerMark">;

/** What a mark on the timeline stands for. */
export type MarkKind = Mark["kind"];

/** A part of the timeline, newest first. */
export type TimelinePage = Schema<"TimelinePage">;

/** A window as it stood. */
export type Window = Schema<"EventstoreWindow">;

/** The computer as it was after an event. */
export type Moment = Schema<"ComputerMoment">;

/** A document at one of its versions; its content is there when it was asked for by itself. */
export type DocumentVersion = Schema<"EventstoreDocument">;

/** One changed file with its text diff. */
export type FileDiff = Schema<"ComputerFileDiff">;

/** How the workspace differs between two moments: what all answers about that have. */
export type DiffView = Pick<Schema<"Rewound">, "files" | "cut">;

/** How the computer differs between two moments. */
export type MomentsView = Schema<"MomentsView">;

/** One window or setting that differs between two moments. */
export type DesktopChange = MomentsView["changes"][number];

/** What a rewind did, or would do. */
export type Rewound = Schema<"Rewound">;

/** How the rewind stands that was asked for last. */
export type RewindState = Schema<"RewindState">;

/** What taking one step back did, or would do. */
export type Undone = Schema<"Undone">;

/** A computer that was forked. */
export type Forked = Schema<"Forked">;

/** A part of the log. */
export type EventPage = Schema<"EventPage">;

/** An identity on the bus for one connection. */
export type Grant = Schema<"Grant">;

/** A draft of an app was changed: text that is typed and not saved. It comes over the bus. */
export interface DraftChanged {
  app: string;
  subject: string;
  /** Its number now; 0 once it was saved or discarded. */
  revision: number;
}

/** A run still works or waits. */
export function isOpen(state: RunState): boolean {
  return state === "planning" || state === "running" || state === "waiting";
}
