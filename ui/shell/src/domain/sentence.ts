import type { AssociateResult, Event, EventType, PayloadByType, ToolInput } from "#base/domain/contracts.ts";

type Sentences = { [T in EventType]: (payload: PayloadByType[T]) => string };

const sentences: Sentences = {
  "computer.created": (p) => `The computer “${p.name}” was created`,
  "session.started": (p) => `The computer woke${p.recovered ? " after an unexpected stop" : ""} (${p.isolation})`,
  "session.ended": (p) => `The computer went to sleep: ${p.reason}`,
  "sandbox.started": (p) =>
    `The ${role(p.role)}’s sandbox ${p.recovered ? "was taken up again" : "started"} (${p.level})`,
  "sandbox.stopped": (p) => `The ${role(p.role)}’s sandbox stopped: ${p.reason}`,
  "prompt.submitted": (p) => `You asked: ${clip(p.text)}`,
  "steering.submitted": (p) => `You added: ${clip(p.text)}`,
  "run.dismissed": () => "You put the card of a run away",
  "run.cancel_requested": () => "You stopped the run",
  "run.finished": (p) => `The run ended ${outcomes[p.outcome]}${p.code ? ` (${p.code})` : ""}`,
  "plan.made": (p) => `The Director planned ${count(p.steps.length, "step")}: ${clip(p.goal)}`,
  "plan.refused": (p) => `A plan did not hold: ${clip(p.problems.join("; "))}`,
  "task.dispatched": (p) => `The Director handed over a task: ${clip(p.task.instruction)}`,
  "task.started": (p) =>
    p.attempt > 1 ? `The Associate took the task up again (attempt ${p.attempt})` : "The Associate began the task",
  "task.progressed": (p) => `The Associate ${p.request ? `asks (${p.request})` : "says"}: ${clip(p.text)}`,
  "task.returned": (p) => `The task came back ${statuses[p.result.status]}, ${verification(p.result)}`,
  "task.judged": (p) => `The Director ${verdicts[p.verdict]} the result: ${clip(p.reason)}`,
  "question.asked": (p) => `A question for you: ${clip(p.question.text)}`,
  "question.answered": (p) => `You answered: ${clip(p.text)}`,
  "toast.shown": (p) => `The Director said: ${clip(p.text)}`,
  "tool.called": (p) => `The Associate ${toolWords(p.tool, p.input)}`,
  "tool.returned": (p) =>
    p.ok ? `The tool finished in ${p.duration_ms} ms` : `The tool ended with ${p.code ?? "an error"}`,
  "model.called": (p) => `The ${role(p.caller)} asked ${modelName(p)}`,
  "model.returned": (p) =>
    p.code
      ? `${role(modelName(p))} failed: ${clip(p.error ?? p.code)}`
      : `${p.recorded ? "The recording" : role(modelName(p))} answered, ${count(p.output_tokens, "token")}`,
  "file.written": (p) => `${files(p.files.map((f) => f.path))} written`,
  "file.removed": (p) => `${files(p.paths)} removed`,
  "snapshot.taken": (p) => `A snapshot of ${count(p.files, "file")} was taken (${p.reason.replaceAll("_", " ")})`,
  "caches.left_out": (p) => {
    const left = [...(p.paths ?? []), ...(p.over ?? []).map((l) => clip(l.path))];
    return left.length ? `Too much to be kept: ${left.join(", ")}` : "Every cache is kept again";
  },
  "document.created": (p) => `The document “${clip(p.title)}” was begun`,
  "document.versioned": (p) => `The document reached version ${p.version}${p.note ? `: ${clip(p.note)}` : ""}`,
  "document.renamed": (p) => `A document is called “${clip(p.title)}” now`,
  "document.removed": () => "A document was removed",
  "overlay.added": (p) =>
    p.kind === "comment" ? "A comment was made on a document" : "A change to a document was proposed",
  "overlay.settled": (p) =>
    `A ${p.outcome === "accepted" || p.outcome === "rejected" ? "proposal" : "comment"} was ${p.outcome}`,
  "checkpoint.created": (p) => `Checkpoint${p.verified ? ", verified" : ""}: ${clip(p.subject)}`,
  "timeline.rewound": (p) => `The computer went back to event ${p.to_seq}, which changed ${count(p.files, "file")}`,
  "timeline.undone": (p) => `One step was taken back, which changed ${count(p.files, "file")}`,
  "timeline.forked": (p) => `Another computer was forked after event ${p.at_seq}`,
  "computer.forked": (p) => `This computer, “${p.name}”, begins as a fork`,
  "computer.imported": (p) => `This computer, “${p.name}”, was imported`,
  "computer.exported": (p) => `The computer was exported up to event ${p.at_seq}`,
  "changes.taken": (p) => `${count(p.files, "file")} changed by taking over another computer’s work`,
  "desktop.broke": (p) => `The desktop broke${p.file ? ` in ${p.file}` : ""}: ${clip(p.message)}`,
  "desktop.upgraded": (p) =>
    `The desktop’s source was upgraded, which changed ${count(p.files, "file")}${p.conflicts?.length ? `; ${files(p.conflicts)} left alone` : ""}`,
  "window.opened": (p) => `${p.run ? "A run opened a window" : "A window was opened"}: ${clip(p.title || p.app)}`,
  "window.moved": (p) => `A window was moved to ${p.bounds.x}, ${p.bounds.y}`,
  "window.shown": (p) => `A window was ${shown[p.state]}`,
  "window.retitled": (p) => `A window shows something else: ${clip(p.title || p.subject || "")}`,
  "window.focused": () => "A window came to the top",
  "window.closed": () => "A window was closed",
  "theme.changed": (p) => `The theme became ${clip(p.name)}`,
  "setting.changed": (p) => (p.value ? `${p.key} became ${clip(p.value)}` : `${p.key} went back to its default`),
  "terminal.opened": (p) => `A terminal was opened: ${clip(p.title)}`,
  "terminal.closed": (p) => `A terminal ended (${p.reason})`,
  "repo.added": (p) => `The project ${p.name} was added, ${count(p.files, "file")}`,
  "repo.exported": (p) => `Work on ${p.name} left as a ${p.format}`,
  "egress.refused": (p) => `Something wanted ${p.host}; the policy is ${p.policy}, so it was refused`,
  "budget.reached": (p) => `The ${p.scope} reached its limit of ${p.max} ${p.limit}`,
  "log.repaired": (p) => `Events ${p.from} to ${p.to} of the ${p.copy} copy were repaired: ${p.damage}`,
};

const outcomes = { done: "well", failed: "without success", cancelled: "because you stopped it" };
const statuses = { ok: "done", needs_input: "needing your answer", failed: "failed" };
const shown = { normal: "restored", minimised: "minimised", maximised: "maximised", snapped: "snapped" };
const verdicts = { accept: "accepted", revise: "wants a correction of", abort: "gave up on" };

/** One event in a sentence for people. */
export function sentenceOf(event: Event): string {
  // A newer server may send a type this page does not know.
  const say = sentences[event.type] as ((payload: Event["payload"]) => string) | undefined;
  return say ? say(event.payload) : event.type;
}

function role(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** A recording has no model but the role's own name. */
function modelName(p: { caller: string; model: string }): string {
  return p.model === p.caller ? "its model" : p.model;
}

function verification(r: AssociateResult): string {
  return { pass: "verified", fail: "verification failed", unknown: "not verified" }[r.verify.status];
}

const toolVerbs: Record<string, (input: ToolInput) => string> = {
  read_file: (i) => `read ${i.path ?? "a file"}`,
  write_file: (i) => `wrote ${i.path ?? "a file"}`,
  edit_file: (i) => `edited ${i.path ?? "a file"}`,
  list_files: (i) => `listed ${i.path || "the folder"}`,
  search_files: (i) => `searched for ${i.pattern ?? "something"}`,
  bash: (i) => `ran ${i.command ?? "a command"}`,
  fetch_url: (i) => `fetched ${i.url ?? "an address"}`,
};

/** What a tool call does, in words. */
export function toolWords(tool: string, input: ToolInput): string {
  return clip(toolVerbs[tool]?.(input) ?? `used ${tool}`);
}

function files(paths: string[]): string {
  const [first = "nothing"] = paths;
  return paths.length > 1 ? `${first} and ${paths.length - 1} more were` : `${first} was`;
}

/** A number of things in words. */
export function count(n: number, noun: string): string {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}

/** What becomes of open terminals when the workspace becomes another; undefined when none is open. */
export function terminalsEnd(open = 0): string | undefined {
  if (open === 0) return undefined;
  return open === 1
    ? "1 terminal is open and will end, with what runs in it."
    : `${count(open, "terminal")} are open and will end, with what runs in them.`;
}

function clip(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}
