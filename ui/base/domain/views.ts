import type {
  AssociateResult,
  Code,
  Digest,
  DirectorTask,
  Event,
  FileChange,
  ID,
  LeftPath,
  Question,
  Rect,
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
  /** Who prompted. */
  source?: Event["source"];
  /** The run it follows up. */
  after?: ID;
  /** Its recording plays at the pace of a reader. */
  paced?: boolean;
  /** Its card was put away. */
  dismissed?: boolean;
  /** The event that took back what it changed; none once a rewind has put that there again. */
  undone?: { seq: number; at: Time };
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

/** A snapshot with a name. */
export interface Checkpoint {
  id: ID;
  seq: number;
  at: Time;
  subject: string;
  verified: boolean;
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
  /** One of them was connected on the shell's page. */
  on_page?: boolean;
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

/** What a mark on the timeline stands for. */
export type MarkKind =
  | "prompt"
  | "answer"
  | "task"
  | "call"
  | "files"
  | "outside"
  | "checkpoint"
  | "rewind"
  | "undo"
  | "take"
  | "fork"
  | "import"
  | "repo"
  | "theme"
  | "caches"
  | "windows"
  | "document";

/** A moment worth a place on the timeline. */
export interface Mark {
  seq: number;
  at: Time;
  kind: MarkKind;
  source: Event["source"];
  text: string;
  run?: ID;
  task?: ID;
  call?: ID;
  checkpoint?: ID;
  verified?: boolean;
  /** Paths that look like keys: in the snapshot, not in the commit. */
  withheld?: string[];
  /** Paths that changed. */
  files?: number;
  /** The moment that a rewind went back to. */
  to_seq?: number;
}

/** A part of the timeline, newest first. */
export interface TimelinePage {
  marks: Mark[];
  head: number;
}

/** A window as it stood. */
export interface Window {
  id: ID;
  app: string;
  title?: string;
  bounds: Rect;
  state: "normal" | "minimised" | "maximised";
}

/** The computer as it was after an event. */
export interface Moment {
  seq: number;
  at: Time;
  text?: string;
  snapshot?: Digest;
  /** The files of this moment were collected: it lay between two tool calls, long ago. */
  collected?: boolean;
  files: number;
  bytes: number;
  documents: { id: ID; run: ID; title: string; version: number }[];
  windows: Window[];
  settings: { key: string; value?: string; theme?: { name: string } }[];
  head: number;
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

/** How the computer differs between two moments. */
export interface MomentsView extends DiffView {
  documents: { id: ID; title: string; from?: number; to?: number; diff?: string }[];
  /** Windows, theme and settings that differ, in words. */
  desktop: string[];
  /** What happened between, the oldest first. */
  events: { seq: number; at: Time; type: string; text: string }[];
  events_cut?: boolean;
}

/** What a rewind did, or would do. */
export interface Rewound extends DiffView {
  seq?: number;
  to_seq: number;
  dry_run?: boolean;
  /** Runs that are stopped first. */
  stopped?: ID[];
  /** Terminals that are open and end with it. */
  terminals?: number;
  /** It takes longer than a caller waits, and goes on. */
  pending?: boolean;
  /** Paths that no snapshot holds, which stay as they are. */
  left?: LeftPath[];
}

/** How the rewind stands that was asked for last. */
export interface RewindState {
  pending: boolean;
  done?: Rewound;
  failed?: { code: Code; detail: string; remedy?: string };
}

/** What taking one step back did, or would do. */
export interface Undone extends DiffView {
  seq?: number;
  /** Where to go back to so as to have it again. */
  back_seq?: number;
  /** Terminals that are open and end with it. */
  terminals?: number;
}

/** A computer that was forked. */
export interface Forked {
  id?: ID;
  name: string;
  at_seq: number;
  /** Paths that look like keys and do not come along. */
  withheld?: string[];
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
  /** How long that is from when it was given, in milliseconds. */
  lasts_ms: number;
  user: ID;
  computer: ID;
}

/** A draft of an app was changed: text that is typed and not saved. */
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
