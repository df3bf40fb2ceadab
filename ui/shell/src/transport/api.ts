import { PATIENCE_MS } from "#base/domain/backoff.ts";
import type { ID } from "#base/domain/contracts.ts";
import { Refusal } from "#base/domain/problem.ts";
import type { Computer, Rewound } from "#base/domain/views.ts";
import { computerAsks } from "#base/transport/computer.ts";
import { ACT_MS, ask, receive } from "#base/transport/http.ts";
import { momentAsks } from "#base/transport/moments.ts";

const nothing = () => Promise.resolve();

/** Trades a one-time token for a session cookie. */
export async function login(token: string): Promise<void> {
  await receive("/auth/login", { method: "POST", body: { token }, patience: ACT_MS }, nothing);
}

/** Ends this session, and those of the desktops it let in. */
export async function logout(): Promise<void> {
  await receive("/auth/logout", { method: "POST", patience: PATIENCE_MS }, nothing);
}

/** The computers of whoever is logged in; given up when it takes longer than people wait. */
export function listComputers(): Promise<Computer[]> {
  return ask<"listComputers">("/api/computers", { patience: PATIENCE_MS });
}

/** Whether this browser has a session; false when nobody can say. */
export async function isLoggedIn(): Promise<boolean> {
  try {
    await listComputers();
    return true;
  } catch {
    return false; // then nothing is offered that needs one
  }
}

/** How often a rewind is looked at that takes long. */
const REWIND_LOOK_MS = 500;

/** Everything one computer answers. */
export type ComputerAPI = ReturnType<typeof computerAPI>;

/** Gives what can be asked of a computer. */
export function computerAPI(computer: ID) {
  const at = `/api/computers/${computer}`;
  return {
    ...computerAsks(at),
    moments: momentAsks(at),
    /** Lets nothing more begin in a run, and lets it go on. */
    pause: (run: ID) => ask<"pauseRun">(`${at}/runs/${run}/pause`, { method: "POST", patience: ACT_MS }),
    resume: (run: ID) => ask<"resumeRun">(`${at}/runs/${run}/resume`, { method: "POST", patience: ACT_MS }),
    /** Where the desktop's frame begins: works once, within 30 seconds. */
    ticket: () => ask<"newTicket">(`${at}/ticket`, { method: "POST" }),
    /** Where the frame begins that shows the desktop as it was. */
    pastTicket: () => ask<"newTicket">(`${at}/ticket?past=true`, { method: "POST" }),
    /** The theme and the settings of the desktop. */
    desktop: () => ask<"getDesktop">(`${at}/desktop`),
    /** What the desktop's origin serves; brings its development server up when it needs one. */
    source: () => ask<"getDesktopSource">(`${at}/desktop/source`),
    /** Merges what a newer shipped desktop changed into the workspace's. */
    upgrade: (dryRun: boolean) =>
      ask<"upgradeDesktopSource">(`${at}/desktop/upgrade`, { method: "POST", body: { dry_run: dryRun } }),
    checkpoints: () => ask<"listCheckpoints">(`${at}/checkpoints?limit=10`),
    undo: (of: ID, dryRun: boolean) => ask<"undo">(`${at}/undo`, { method: "POST", body: { of, dry_run: dryRun } }),
    fork: (event: number, name: string, dryRun: boolean) =>
      ask<"fork">(`${at}/fork`, { method: "POST", body: { event, name, dry_run: dryRun } }),
    /** Where the whole computer can be had as one file. */
    archive: `${at}/archive`,
    rewind: (toSeq: number, dryRun: boolean) => rewind(`${at}/rewind`, toSeq, dryRun),
  };
}

/** Goes back in time; a rewind that takes long is waited for. */
async function rewind(path: string, toSeq: number, dryRun: boolean): Promise<Rewound> {
  const begun = await ask<"rewind">(path, {
    method: "POST",
    body: { to_seq: toSeq, dry_run: dryRun },
  });
  if (!begun.pending) return begun;
  for (;;) {
    await new Promise((later) => setTimeout(later, REWIND_LOOK_MS));
    const { pending, done, failed } = await ask<"getRewind">(path);
    if (done) return done;
    if (failed) throw new Refusal(failed);
    if (!pending)
      throw new Refusal({
        status: 0,
        code: "unavailable",
        detail: "choir was restarted during the rewind",
        remedy: "see in the timeline whether it was done",
      });
  }
}
