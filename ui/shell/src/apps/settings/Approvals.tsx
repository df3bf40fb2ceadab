import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Refusal } from "#base/domain/problem.ts";
import { Button } from "#base/kit/Button.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { visible } from "../../domain/visible";
import { Files } from "../../kit/DiffFiles";
import { useStore } from "../../state/store";
import { type Approval, type ApprovalView, approvalsOf } from "../../transport/approvals";
import { t } from "../../words/late";

/** How often the list is read anew while it is shown. */
const LOOK_MS = 2000;

/** Results of tasks that wait for the owner: what each changes, ran and wanted, and the answers. */
export function Approvals() {
  const computer = useStore((s) => s.computer);
  const id = computer?.id ?? "";
  const { data, error, refetch } = useQuery({
    queryKey: ["approvals", id],
    queryFn: () => approvalsOf(id).list(),
    enabled: id !== "",
    refetchInterval: LOOK_MS,
    gcTime: 0,
  });
  if (error) return <p role="alert">{t("approvals.notRead", { why: error.message })}</p>;
  if (!data) return <p role="status">{t("approvals.reading")}</p>;
  return (
    <>
      <p>{t("approvals.about")}</p>
      {data.approvals.length === 0 && <p>{t("approvals.none")}</p>}
      <ul className="settings-list">
        {data.approvals.map((held) => (
          <Held key={held.task} held={held} computer={id} onAnswer={() => unawaited(refetch())} />
        ))}
      </ul>
    </>
  );
}

/** One result. The words of its task and commands are an agent's: they are shown, and nothing more. */
function Held({ held, computer, onAnswer }: { held: Approval; computer: string; onAnswer(): void }) {
  const { data } = useQuery({
    queryKey: ["approval", computer, held.task],
    queryFn: () => approvalsOf(computer).read(held.task),
    gcTime: 0,
  });
  return (
    <li className="settings-approval">
      <b>{visible(held.instruction)}</b>
      {held.rules.map((rule) => (
        <small key={rule}>{t("approvals.rule", { rule: visible(rule) })}</small>
      ))}
      <small>{t("approvals.change", { n: held.files, added: held.added, removed: held.removed })}</small>
      <Facts held={held} />
      {data && <Change view={data} />}
      {data && <Answers held={held} computer={computer} onAnswer={onAnswer} />}
    </li>
  );
}

const checks = { pass: "approvals.pass", fail: "approvals.fail", unknown: "approvals.unknown" } as const;

/** What a task ran and wanted, and what its checks found. */
function Facts({ held }: { held: Approval }) {
  return (
    <>
      {held.commands.map(({ command, exit_code }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list does not change
        <small key={i}>{t("approvals.ran", { command: visible(command), code: exit_code })}</small>
      ))}
      {held.hosts.map(({ host, port, sent, beside }) => (
        <small key={`${host} ${port} ${sent} ${beside}`}>
          {t(beside ? "approvals.beside" : sent ? "approvals.reached" : "approvals.wanted", {
            host: visible(port ? `${host}:${port}` : host),
          })}
        </small>
      ))}
      {held.more_hosts && <small>{t("approvals.moreHosts")}</small>}
      {held.verify.commands?.map(({ command, exit_code }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list does not change
        <small key={i}>{t("approvals.checked", { command: visible(command), code: exit_code })}</small>
      ))}
      <small>{t(checks[held.verify.status], { proves: visible(held.verify.proves ?? "") })}</small>
      {held.summary && <small>{t("approvals.says", { text: visible(held.summary) })}</small>}
    </>
  );
}

/** What an approval changes in the files. */
function Change({ view }: { view: ApprovalView }) {
  return (
    <>
      <Files difference={{ files: view.diff, cut: view.cut }} none={t("approvals.nothing")} />
      {view.in_git ? <small>{t("approvals.inGit", { n: view.in_git })}</small> : null}
    </>
  );
}

/** The answers to a result whose change is shown. */
function Answers({ held, computer, onAnswer }: { held: Approval; computer: string; onAnswer(): void }) {
  const [busy, setBusy] = useState(false);
  const [moved, setMoved] = useState(false);
  const [reason, setReason] = useState("");
  const field = useId();
  const sendAnswer = (answer: "approve" | "refuse" | "again") => {
    setBusy(true);
    const failed = (error: unknown) => {
      if (error instanceof Refusal && error.problem.reason === "effect_moved") setMoved(true);
      else notifyProblem(error);
    };
    unawaited(
      approvalsOf(computer)
        .answer(held.task, answer, reason)
        .then(onAnswer, failed)
        .finally(() => setBusy(false)),
    );
  };
  return (
    <>
      {moved && <p role="alert">{t("approvals.moved")}</p>}
      <label htmlFor={field}>{t("approvals.reason")}</label>
      <input id={field} value={reason} maxLength={2000} onChange={(e) => setReason(e.target.value)} />
      <span className="settings-answers">
        {moved ? (
          <Button look="primary" disabled={busy} onClick={() => sendAnswer("again")}>
            {t("approvals.again")}
          </Button>
        ) : (
          <Button look="primary" disabled={busy} onClick={() => sendAnswer("approve")}>
            {t("approvals.approve")}
          </Button>
        )}
        <Button look="danger" disabled={busy} onClick={() => sendAnswer("refuse")}>
          {t("approvals.refuse")}
        </Button>
      </span>
    </>
  );
}
