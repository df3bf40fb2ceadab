import type { Code, Diff, FileChange, ID, PlanStep, Question, Time } from "#base/domain/contracts.ts";
import { type StepState, stepsOf } from "#base/domain/plan.ts";
import type { Story, TaskStory, ToolStory } from "#base/domain/story.ts";
import { isOpen, type Run, type RunState } from "#base/domain/views.ts";

/** How many of the newest runs have a card at most; the others are in the launcher and on the timeline. */
export const CARDS = 20;

/** A file that a run changed, with every diff in which it may be found. */
export interface CardFile extends FileChange {
  diffs: Diff[];
}

/** What a run does at this moment. */
export interface Now {
  kind: "planning" | "waiting" | "tool" | "said" | "task" | "judging" | "stopping" | "paused";
  text: string;
  since: Time;
}

/** All that the card of a run shows. */
export interface Card {
  run: ID;
  /** The event before it began. */
  before: number;
  prompt: string;
  repo?: string;
  /** The run it follows up. */
  after?: ID;
  state: RunState;
  code?: Code;
  /** How much of what was asked is done, when that is not all. */
  status?: "partly" | "not_done";
  /** It was begun elsewhere, or its answer lies in a document: nobody waits for it here. */
  quiet: boolean;
  /** It is a demo, which shows itself in windows. */
  paced: boolean;
  startedAt: Time;
  finishedAt?: Time;
  cost: number;
  /** All but this is known from the list of runs; false until its events were read. */
  whole: boolean;
  steps: { step: PlanStep; state: StepState }[];
  now?: Now;
  question?: Question;
  answer: string;
  /** What a model said that ended the run in plain words: nobody answers for it. */
  said?: string;
  document?: ID;
  /** What was asked for: a file's path, or `document:<id>`; the document above is the record then. */
  made?: string;
  /** The document over which its answer lies as a proposal. */
  proposedOver?: ID;
  files: CardFile[];
  /** When what it changed was taken back, and by which event. */
  undone?: { seq: number; at: Time };
}

/** How a run ended, or stands; one whose changes were taken back is undone, however it ended. */
export type CardState = RunState | "partly" | "not_done" | "undone";

export function stateOf({ state, status, undone }: Pick<Card, "state" | "status" | "undone">): CardState {
  if (undone && !isOpen(state)) return "undone";
  return status ?? state;
}

/** Makes the card of a run from the list of runs and from the run's own events, as far as they were read. */
export function cardOf(run: Run, story?: Story): Card {
  const open = isOpen(run.state);
  const card: Card = {
    run: run.id,
    before: run.first_seq - 1,
    prompt: run.prompt,
    state: run.state,
    quiet: run.source !== "desktop" || !story || story.proposes || Boolean(run.paced),
    paced: Boolean(run.paced),
    startedAt: run.started_at,
    cost: story?.usage.cost_usd ?? run.usage.cost_usd,
    whole: story !== undefined,
    steps: story ? stepsOf(story).steps : [],
    answer: run.answer ?? "",
    files: story && !open ? filesOf(story.tasks) : [],
  };
  const document = story?.document?.id ?? run.document;
  const question = open ? openQuestion(story, run) : undefined;
  if (run.repo) card.repo = run.repo;
  if (run.after) card.after = run.after;
  if (run.code) card.code = run.code;
  const status = story?.finished?.status ?? run.status;
  if (status) card.status = status;
  if (run.finished_at) card.finishedAt = run.finished_at;
  if (open && story) card.now = nowOf(story);
  if (question) card.question = question;
  if (story?.finished?.said) card.said = story.finished.said;
  if (document) card.document = document;
  const made = story?.finished && madeIn(story.finished);
  if (made) card.made = made;
  if (run.undone) card.undone = run.undone;
  if (story?.proposedOver) card.proposedOver = story.proposedOver;
  return card;
}

/** The subject of what a run made because it was asked for; undefined for none. */
export function madeIn(end: { document?: ID; file?: string }): string | undefined {
  return end.document ? `document:${end.document}` : end.file;
}

function openQuestion(story: Story | undefined, run: Run): Question | undefined {
  if (!story) return run.state === "waiting" ? run.question : undefined;
  return story.questions.find((q) => q.answer === undefined)?.question;
}

function nowOf(story: Story): Now {
  if (story.stopping) return { kind: "stopping", text: "", since: story.startedAt };
  if (story.paused) return { kind: "paused", text: "", since: story.startedAt };
  const task = story.tasks.at(-1);
  if (story.state === "waiting") return { kind: "waiting", text: "", since: story.startedAt };
  if (!task) return { kind: "planning", text: "", since: story.startedAt };
  if (task.state === "returned") return { kind: "judging", text: "", since: task.dispatchedAt };
  const tool = task.tools.findLast((t) => t.ok === undefined);
  const note = task.notes.at(-1);
  if (tool && (!note || note.at <= tool.at)) return { kind: "tool", text: toolLine(tool), since: tool.at };
  if (note) return { kind: "said", text: oneLine(note.text), since: note.at };
  return { kind: "task", text: oneLine(task.task.instruction), since: task.dispatchedAt };
}

function toolLine({ tool, input }: ToolStory): string {
  return oneLine(`${tool} ${input.command ?? input.path ?? input.pattern ?? input.url ?? ""}`);
}

/** A text on one line, cut where nobody reads on. */
export function oneLine(text: string, most = 160): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** Fences, what begins a line, lines of tables, tags, and the marks of bold and code. */
const marks = /^ *(```|~~~).*$|^[ >]*(#+|[-*+]|>) (\[[ x]\] )?|^[ |:-]+$|<\/?[a-z][^<>]*>|\*\*|~~|`/gim;

/** Links, pictures and emphasis, of which the words stay. */
const around = /!?\[([^\]]*)\]\([^)]*\)|\B\*(\w[^*\n]*)\*\B/g;

/** A text on one line, without the marks of Markdown and HTML. */
export function gist(text: string, most?: number): string {
  return oneLine(text.replace(marks, "").replace(around, "$1$2"), most);
}

/** What the tasks that were kept changed, taken together: each file once, by its last name. */
function filesOf(tasks: readonly TaskStory[]): CardFile[] {
  const files = new Map<string, CardFile>();
  for (const { result } of tasks) {
    if (result?.status !== "ok") continue;
    for (const change of result.files_changed) add(files, change, result.diff ?? undefined);
  }
  return [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function add(files: Map<string, CardFile>, change: FileChange, diff: Diff | undefined): void {
  const before = files.get(change.from ?? change.path) ?? files.get(change.path);
  if (change.from) files.delete(change.from);
  files.delete(change.path);
  const diffs = [...(before?.diffs ?? []), ...(diff ? [diff] : [])];
  if (before?.change === "added") {
    // What a run made and removed again was never there for its owner.
    if (change.change !== "deleted") files.set(change.path, { path: change.path, change: "added", diffs });
    return;
  }
  const kind = together(before?.change, change.change);
  const from = before?.from ?? change.from;
  files.set(change.path, { path: change.path, change: kind, ...(from && kind === "renamed" ? { from } : {}), diffs });
}

/** One change after another, as one. */
function together(before: FileChange["change"] | undefined, change: FileChange["change"]): FileChange["change"] {
  if (!before || change === "deleted" || change === "renamed") return change;
  return before === "deleted" ? "modified" : before;
}

/** A card in the stack above the prompt. */
export interface Stacked {
  card: Card;
  /** All of it is shown, not only its line. */
  unfolded: boolean;
}

/** The cards that are to be seen, the oldest first: all that nobody put away of the newest runs. */
export function stackOf(
  runs: readonly Run[],
  stories: Readonly<Record<ID, Story>>,
  chosen: Readonly<Record<ID, boolean>>,
): Stacked[] {
  const cards = runs
    .filter((run) => !run.dismissed)
    .slice(0, CARDS)
    .map((run) => cardOf(run, stories[run.id]));
  // The newest that was begun here; with others beside it those are lines.
  const first = cards.find((card) => !card.quiet)?.run;
  return cards.map((card) => ({ card, unfolded: chosen[card.run] ?? card.run === first })).reverse();
}
