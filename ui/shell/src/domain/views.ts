import type {
  AssociateResult,
  Code,
  Commit,
  Digest,
  DirectorTask,
  Event,
  FileChange,
  ID,
  Question,
  Time,
} from "./contracts";

/** Where a run stands. */
export type RunState = "planning" | "running" | "waiting" | "done" | "failed" | "cancelled";

/** Tokens and money of a run. */
export interface Usage {
  calls: number;
  failed: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  cost_usd: number;
  duration_ms: number;
}

/** A run as the server lists it. */
export interface Run {
  id: ID;
  prompt: string;
  repo?: string;
  state: RunState;
  code?: Code;
  answer?: string;
  signature?: string;
  document?: ID;
  first_seq: number;
  last_seq: number;
  started_at: Time;
  finished_at?: Time;
  question?: Question;
  usage: Usage;
}

/** A task as the server shows it. */
export interface Task {
  id: ID;
  run: ID;
  kind: DirectorTask["kind"];
  instruction: string;
  state: "dispatched" | "started" | "returned";
  task: DirectorTask;
  result?: AssociateResult;
}

/** How well a sandbox is isolated. */
export interface Level {
  driver: string;
  name: string;
  limits: string;
  missing?: string[];
}

/** One sandbox of a computer. */
export interface Sandbox {
  role: "director" | "associate";
  running: boolean;
  level: Level;
  public_key?: string;
}

/** Whether a model is connected, with one sentence for people. */
export interface ModelState {
  connected: boolean;
  director?: string;
  associate?: string;
  message: string;
}

/** One computer as its owner sees it. */
export interface Computer {
  id: ID;
  name: string;
  user: ID;
  head: number;
  isolation: Sandbox[];
  models: ModelState;
  read_only?: string;
}

/** A snapshot with a name. */
export interface Checkpoint {
  id: ID;
  seq: number;
  at: Time;
  run?: ID;
  task?: ID;
  snapshot: Digest;
  subject: string;
  trigger: string;
  verified: boolean;
  commits?: Commit[];
  withheld?: string[];
}

/** One version of a living document. */
export interface DocumentVersion {
  id: ID;
  version: number;
  content?: string;
}

/** One changed file with its text diff. */
export interface FileDiff extends FileChange {
  diff?: string;
  binary?: boolean;
}

/** How the workspace differs between two moments. */
export interface DiffView {
  files: FileDiff[];
  cut?: boolean;
}

/** What a rewind did, or would do. */
export interface Rewound extends DiffView {
  seq?: number;
  to_seq: number;
  dry_run?: boolean;
}

/** A part of the log. */
export interface EventPage {
  events: Event[];
  head: number;
}

/** An identity on the bus for one connection. */
export interface Grant {
  jwt: string;
  seed: string;
  inbox: string;
  expires: Time;
  user: ID;
  computer: ID;
}

/** A run still works or waits. */
export function isOpen(state: RunState): boolean {
  return state === "planning" || state === "running" || state === "waiting";
}
