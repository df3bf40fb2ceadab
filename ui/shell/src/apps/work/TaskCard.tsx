import { Check, GitCommitHorizontal, X } from "lucide-react";
import type { AssociateResult, CommandRun, Proof, TaskJudged, VerifyOutcome } from "#base/domain/contracts.ts";
import { verdictOf } from "#base/domain/plan.ts";
import type { TaskStory } from "#base/domain/story.ts";
import { Badge } from "#base/kit/Badge.tsx";
import { span } from "../../domain/time";
import { t } from "../../words/late";
import { ToolList } from "./ToolList";

const kinds = { edit_repo: "work.edit", run: "work.run", git: "work.git", inspect: "work.inspect" } as const;

/** One task: what was asked, what is done, what came back, how it was judged. */
export function TaskCard({ task }: { task: TaskStory }) {
  const { result, judgement } = task;
  return (
    <article className="task" aria-label={t("work.task", { text: task.task.instruction })}>
      <p className="task-head">
        <span className="task-kind">{t(kinds[task.task.kind])}</span>
        {task.attempt > 1 && <span>{t("work.attempt", { n: task.attempt })}</span>}
        {result ? (
          <Outcome result={result} />
        ) : (
          <span>{task.state === "started" ? t("work.working") : t("work.handedOver")}</span>
        )}
      </p>
      <p className="task-instruction">{task.task.instruction}</p>
      <ToolList tools={task.tools} running={!result} />
      {task.notes.map((note) => (
        <p key={note.at + note.text} className="task-note">
          {note.text}
        </p>
      ))}
      {result && <Returned result={result} />}
      {judgement && <Judged judgement={judgement} />}
      {task.checkpoint && (
        <p className="task-checkpoint">
          <GitCommitHorizontal size={15} aria-hidden />
          <span>{task.checkpoint.subject}</span>
          {task.checkpoint.commits?.[0] && <code>{task.checkpoint.commits[0].commit.slice(0, 7)}</code>}
        </p>
      )}
    </article>
  );
}

function Outcome({ result }: { result: AssociateResult }) {
  const verdict = verdictOf(result.verify);
  return (
    <>
      {result.status !== "ok" && result.code !== "verify_failed" && (
        <Badge tone="bad">{result.code?.replaceAll("_", " ") ?? result.status}</Badge>
      )}
      <Badge tone={verdict.tone}>{verdict.words}</Badge>
      <span className="task-time">{span(result.usage.wall_ms)}</span>
    </>
  );
}

function Returned({ result }: { result: AssociateResult }) {
  return (
    <div className="task-returned">
      <p>{result.summary}</p>
      <Commands label={t("work.commands")} commands={result.commands_run} />
      <Commands label={t("work.checks")} commands={result.verify.commands ?? []} />
      <Proves verify={result.verify} />
      {result.verify.status !== "pass" && result.verify.log && (
        <details className="task-log">
          <summary>{result.verify.status === "fail" ? t("work.whatFailed") : t("work.whyNot")}</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
          <pre tabIndex={0}>{result.verify.log}</pre>
        </details>
      )}
      {result.conflicts?.length ? (
        <p className="task-conflict">{t("work.conflicts", { paths: result.conflicts.join(", ") })}</p>
      ) : null}
    </div>
  );
}

/** What the checks prove, why less than it seems, and what of the change judges it. */
function Proves({ verify }: { verify: VerifyOutcome }) {
  return (
    <>
      {verify.proves && <p className="task-proves">{verify.proves}</p>}
      {verify.suspect?.length ? (
        <div className="task-conflict">
          <p>{t("work.suspect")}</p>
          <ul>
            {verify.suspect.map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
        </div>
      ) : null}
      {verify.judged_by?.length ? (
        <p className="task-conflict">{t("work.judgedBy", { paths: verify.judged_by.join(", ") })}</p>
      ) : null}
    </>
  );
}

function Commands({ label, commands }: { label: string; commands: readonly CommandRun[] }) {
  if (commands.length === 0) return null;
  return (
    <ul className="task-checks" aria-label={label}>
      {commands.map((c) => (
        <li key={c.started + c.command}>
          {c.exit_code === 0 ? (
            <Check size={14} aria-label={t("work.passed")} />
          ) : (
            <X size={14} aria-label={t("work.failed")} />
          )}
          <code>{c.command}</code>
          <span className="task-time">{span(c.duration_ms)}</span>
        </li>
      ))}
    </ul>
  );
}

/** The part of a result that a proof names, in words. */
function proofWords({ kind, number, path, from, to }: Proof): string {
  if (from) return `${path}:${from}–${to}`;
  return path ?? `${t(proofs[kind as keyof typeof proofs])} ${number ?? ""}`;
}

const proofs = {
  check: "work.proofCheck",
  command: "work.proofCommand",
  log: "work.proofLog",
  summary: "work.proofSummary",
} as const;

function Judged({ judgement }: { judgement: TaskJudged }) {
  return (
    <div className="task-judged">
      <ul aria-label={t("work.criteria")}>
        {judgement.criteria.map((c) => (
          <li key={c.criterion} title={c.evidence}>
            {c.met ? <Check size={14} aria-label={t("work.met")} /> : <X size={14} aria-label={t("work.notMet")} />}
            <span>{c.criterion}</span>
            {c.shown_by && <small className="task-shown-by">{proofWords(c.shown_by)}</small>}
          </li>
        ))}
      </ul>
      {judgement.verdict !== "accept" && <p>{judgement.reason}</p>}
    </div>
  );
}
