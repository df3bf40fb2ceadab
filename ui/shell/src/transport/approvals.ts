import { PATIENCE_MS } from "#base/domain/backoff.ts";
import type { ID } from "#base/domain/contracts.ts";
import type { Schema } from "#base/domain/operations.ts";
import { ask } from "#base/transport/http.ts";

/** A result of a task that waits for the owner. */
export type Approval = Schema<"ApprovalList">["approvals"][number];

/** The same with its change. */
export type ApprovalView = Schema<"ApprovalView">;

/** The results that wait, for one computer. */
export function approvalsOf(computer: ID) {
  const at = `/api/computers/${computer}/approvals`;
  return {
    list: () => ask<"listApprovals">(at, { patience: PATIENCE_MS }),
    read: (task: ID) => ask<"getApproval">(`${at}/${task}`, { patience: PATIENCE_MS }),
    answer: (task: ID, answer: "approve" | "refuse" | "again", reason: string) =>
      ask<"answerApproval">(`${at}/${task}`, { method: "POST", body: { answer, ...(reason ? { reason } : {}) } }),
  };
}
