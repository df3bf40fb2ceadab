import type { AssociateResult, Event, EventType, PayloadByType, ToolInput } from "#base/domain/contracts.ts";
import { type Key, t } from "../words/late";
import { bytes } from "./time";

type Sentences = { [T in EventType]: (payload: PayloadByType[T]) => string };

const sentences: Sentences = {
  "computer.created": (p) => t("log.computerCreated", { name: p.name }),
  "session.started": (p) => t(p.recovered ? "log.wokeRecovered" : "log.woke", { isolation: p.isolation }),
  "session.ended": (p) => t("log.slept", { reason: p.reason }),
  "sandbox.started": (p) =>
    t(p.recovered ? "log.sandboxRecovered" : "log.sandboxStarted", { role: capital(p.role), level: p.level }),
  "sandbox.stopped": (p) => t("log.sandboxStopped", { role: capital(p.role), reason: p.reason }),
  "prompt.submitted": (p) => t("log.asked", { text: clip(p.text) }),
  "steering.submitted": (p) => t("log.added", { text: clip(p.text) }),
  "run.dismissed": () => t("log.dismissed"),
  "run.paused": () => t("log.paused"),
  "run.resumed": () => t("log.resumed"),
  "run.cancel_requested": () => t("log.stopped"),
  "run.finished": (p) => {
    const how = t(outcomes[p.outcome]);
    return p.code ? t("log.endedCode", { how, code: p.code }) : t("log.ended", { how });
  },
  "plan.made": (p) => t("log.planned", { n: p.steps.length, goal: clip(p.goal) }),
  "plan.changed": (p) => t("log.planChanged", { n: p.steps.length, goal: clip(p.goal) }),
  "plan.refused": (p) => t("log.planRefused", { problems: clip(p.problems.join("; ")) }),
  "decision.refused": (p) => t("log.decisionRefused", { reason: clip(p.reason) }),
  "task.dispatched": (p) => t("log.dispatched", { text: clip(p.task.instruction) }),
  "task.started": (p) => (p.attempt > 1 ? t("log.taskAgain", { n: p.attempt }) : t("log.taskBegan")),
  "task.progressed": (p) =>
    p.request
      ? t("log.associateAsks", { request: p.request, text: clip(p.text) })
      : t("log.associateSays", { text: clip(p.text) }),
  "task.steered": () => t("log.taskSteered"),
  "task.cancel_requested": () => t("log.taskCancelled"),
  "command.end_requested": () => t("log.commandEnded"),
  "task.returned": (p) =>
    t("log.returned", { status: t(statuses[p.result.status]), verification: verification(p.result) }),
  "task.judged": (p) => t("log.judged", { verdict: t(verdicts[p.verdict]), reason: clip(p.reason) }),
  "question.asked": (p) => t("log.question", { text: clip(p.question.text) }),
  "question.answered": (p) => t("log.answered", { text: clip(p.text) }),
  "toast.shown": (p) => t("log.directorSaid", { text: clip(p.text) }),
  "tool.called": (p) => t("log.associateDid", { what: toolWords(p.tool, p.input) }),
  "tool.returned": (p) =>
    p.ok ? t("log.toolDone", { n: String(p.duration_ms) }) : t("log.toolFailed", { code: p.code ?? t("log.anError") }),
  "model.called": (p) =>
    t("log.modelAsked", { role: capital(p.caller), model: p.model === p.caller ? t("log.itsModel") : p.model }),
  "model.returned": (p) =>
    p.code
      ? t("log.modelFailed", { model: modelName(p), why: clip(p.error ?? p.code) })
      : t("log.modelAnswered", {
          model: p.recorded ? t("log.theRecording") : modelName(p),
          n: p.output_tokens,
        }),
  "file.written": (p) =>
    files(
      "written",
      p.files.map((f) => f.path),
    ),
  "file.removed": (p) => files("removed", p.paths),
  "snapshot.taken": (p) => t("log.snapshot", { n: p.files, reason: p.reason.replaceAll("_", " ") }),
  "caches.left_out": (p) => {
    const left = [...(p.paths ?? []), ...(p.over ?? []).map((l) => clip(l.path))];
    return left.length ? t("log.tooMuch", { paths: left.join(", ") }) : t("log.cachesKept");
  },
  "document.created": (p) => t("log.documentBegun", { title: clip(p.title) }),
  "document.versioned": (p) =>
    p.note
      ? t("log.documentVersionNote", { version: String(p.version), note: clip(p.note) })
      : t("log.documentVersion", { version: String(p.version) }),
  "document.renamed": (p) => t("log.documentRenamed", { title: clip(p.title) }),
  "document.removed": () => t("log.documentRemoved"),
  "overlay.added": (p) => t(p.kind === "comment" ? "log.commentAdded" : "log.proposalAdded"),
  "overlay.settled": (p) => {
    if (p.outcome === "accepted") return t("log.proposalAccepted");
    return p.outcome === "rejected" ? t("log.proposalRejected") : t("log.commentSettled", { outcome: p.outcome });
  },
  "checkpoint.created": (p) =>
    t(p.verified ? "log.checkpointVerified" : "log.checkpoint", { subject: clip(p.subject) }),
  "timeline.rewound": (p) => t("log.rewound", { seq: String(p.to_seq), n: p.files }),
  "timeline.undone": (p) => t("log.undone", { n: p.files }),
  "timeline.forked": (p) => t("log.forked", { seq: String(p.at_seq) }),
  "computer.forked": (p) => t("log.beginsAsFork", { name: p.name }),
  "computer.imported": (p) => t("log.imported", { name: p.name }),
  "computer.exported": (p) => t("log.exported", { seq: String(p.at_seq) }),
  "changes.taken": (p) => t("log.taken", { n: p.files }),
  "desktop.broke": (p) =>
    p.file
      ? t("log.brokeIn", { file: p.file, message: clip(p.message) })
      : t("log.broke", { message: clip(p.message) }),
  "desktop.upgraded": (p) => {
    const upgraded = t("log.upgraded", { n: p.files });
    const [file, ...more] = p.conflicts ?? [];
    if (!file) return upgraded;
    return more.length
      ? t("log.upgradedLeftMore", { upgraded, file, n: more.length })
      : t("log.upgradedLeft", { upgraded, file });
  },
  "window.opened": (p) => t(p.run ? "log.windowOpenedByRun" : "log.windowOpened", { title: clip(p.title || p.app) }),
  "window.moved": (p) => t("log.windowMoved", { x: String(p.bounds.x), y: String(p.bounds.y) }),
  "window.shown": (p) => t(shown[p.state]),
  "window.retitled": (p) => t("log.windowRetitled", { title: clip(p.title || p.subject || "") }),
  "window.focused": () => t("log.windowFocused"),
  "window.closed": () => t("log.windowClosed"),
  "theme.changed": (p) => t("log.theme", { name: clip(p.name) }),
  "setting.changed": (p) =>
    p.value ? t("log.setting", { key: p.key, value: clip(p.value) }) : t("log.settingDefault", { key: p.key }),
  "terminal.opened": (p) => t("log.terminalOpened", { title: clip(p.title) }),
  "terminal.closed": (p) => t("log.terminalEnded", { reason: p.reason }),
  "repo.added": (p) => t("log.repoAdded", { name: p.name, n: p.files }),
  "repo.exported": (p) => t("log.repoExported", { name: p.name, format: p.format }),
  "repo.linked": (p) => t("log.repoLinked", { name: p.name, url: p.url }),
  "repo.pushed": (p) => t("log.repoPushed", { name: p.name, url: p.url }),
  "repo.push_failed": (p) => t("log.repoPushFailed", { name: p.name, url: p.url, said: clip(p.said || "") }),
  "vault.set": (p) => t("log.vaultSet", { name: p.name, host: p.bound.host }),
  "vault.removed": (p) => t("log.vaultRemoved", { name: p.name }),
  "egress.refused": (p) =>
    t(p.why === "digest" ? "log.egressFalse" : "log.egressRefused", { host: p.host, policy: p.policy }),
  "egress.passed": (p) =>
    t(p.cached ? "log.egressCached" : "log.egressPassed", {
      host: p.host,
      sent: bytes(p.sent),
      received: bytes(p.received),
    }),
  "egress.granted": (p) => t(granted[p.scope], { host: `${p.host}:${p.port}` }),
  "egress.revoked": (p) => t("log.egressRevoked", { host: `${p.host}:${p.port}` }),
  "egress.denied": (p) => t("log.egressDenied", { host: `${p.host}:${p.port}` }),
  "effect.held": (p) => t("log.effectHeld", { rules: clip(p.rules.join("; ")) }),
  "effect.answered": (p) => t(answers[p.answer], { n: p.files ?? 0 }),
  "budget.reached": (p) => t("log.budget", { scope: p.scope, max: String(p.max), limit: p.limit }),
  "log.repaired": (p) => t("log.repaired", { from: String(p.from), to: String(p.to), copy: p.copy, damage: p.damage }),
};

const granted = { task: "log.grantedTask", run: "log.grantedRun", always: "log.grantedAlways" } as const;
const answers = { approve: "log.effectApproved", refuse: "log.effectRefused", again: "log.effectAgain" } as const;
const outcomes = { done: "log.endedDone", failed: "log.endedFailed", cancelled: "log.endedCancelled" } as const;
const statuses = { ok: "log.statusOk", needs_input: "log.statusNeedsInput", failed: "log.statusFailed" } as const;
const verdicts = { accept: "log.accepted", revise: "log.revise", abort: "log.abort" } as const;
const verified = { pass: "log.verifyPass", fail: "log.verifyFail", unknown: "log.verifyUnknown" } as const;
const shown = {
  normal: "log.windowRestored",
  minimised: "log.windowMinimised",
  maximised: "log.windowMaximised",
  snapped: "log.windowSnapped",
} as const;

/** One event in a sentence for people. */
export function sentenceOf(event: Event): string {
  // A newer server may send a type this page does not know.
  const say = sentences[event.type] as ((payload: Event["payload"]) => string) | undefined;
  return say ? say(event.payload) : event.type;
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** The name of a model at the head of a sentence. A recording has no model but the role's own name. */
function modelName(p: { caller: string; model: string }): string {
  return p.model === p.caller ? t("log.itsModelBegins") : capital(p.model);
}

function verification(r: AssociateResult): string {
  return t(verified[r.verify.status]);
}

/** The sentence of each tool, where its object stands, and the word for an object that is not known. */
const tools = {
  read_file: ["log.read", "path", "log.aFile"],
  write_file: ["log.wrote", "path", "log.aFile"],
  edit_file: ["log.edited", "path", "log.aFile"],
  list_files: ["log.listed", "path", "log.theFolder"],
  search_files: ["log.searched", "pattern", "log.something"],
  bash: ["log.ran", "command", "log.aCommand"],
  verify: ["log.checked", "command", "log.aCommand"],
  fetch_url: ["log.fetched", "url", "log.anAddress"],
  screenshot: ["log.lookedAt", "url", "log.aPage"],
} as const satisfies Record<string, readonly [Key, keyof ToolInput, Key]>;

/** What a tool call does, in words. */
export function toolWords(tool: string, input: ToolInput): string {
  if (!Object.hasOwn(tools, tool)) return clip(t("log.used", { what: tool }));
  const [sentence, object, unknown] = tools[tool as keyof typeof tools];
  return clip(t(sentence, { what: input[object] || t(unknown) }));
}

const fileSentences = {
  written: ["log.written", "log.writtenMore"],
  removed: ["log.removed", "log.removedMore"],
} as const;

function files(did: keyof typeof fileSentences, paths: readonly string[]): string {
  const [file = t("log.nothing"), ...more] = paths;
  const [one, several] = fileSentences[did];
  return more.length ? t(several, { file, n: more.length }) : t(one, { file });
}

/** What becomes of open terminals when the workspace becomes another; undefined when none is open. */
export function terminalsEnd(open = 0): string | undefined {
  return open === 0 ? undefined : t("page.terminalsEnd", { n: open });
}

function clip(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}
