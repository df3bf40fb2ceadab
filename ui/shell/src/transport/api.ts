import { PATIENCE_MS } from "../domain/backoff";
import type { AssociateResult, Digest, FileState, ID, RepoAdded } from "../domain/contracts";
import { Refusal } from "../domain/problem";
import type { Source, Upgrade } from "../domain/source";
import type {
  Checkpoint,
  Computer,
  DocumentVersion,
  EventPage,
  Forked,
  Grant,
  Moment,
  MomentsView,
  RewindState,
  Rewound,
  Run,
  TimelinePage,
  Undone,
} from "../domain/views";
import { ask, askBytes, askText } from "./http";

/** Trades a one-time token for a session cookie. */
export function login(token: string): Promise<void> {
  return ask("/auth/login", { method: "POST", body: { token } });
}

/** Ends this session, and those of the desktops it let in. */
export function logout(): Promise<void> {
  return ask("/auth/logout", { method: "POST" });
}

/** The computers of whoever is logged in; given up when it takes longer than people wait. */
export function listComputers(): Promise<Computer[]> {
  return list("/api/computers", AbortSignal.timeout(PATIENCE_MS));
}

/** A list; Go writes an empty one as null. */
async function list<T>(path: string, signal?: AbortSignal): Promise<T[]> {
  return (await ask<T[] | null>(path, signal ? { signal } : {})) ?? [];
}

/** How often a rewind is looked at that takes long. */
const REWIND_LOOK_MS = 500;

/** Everything one computer answers. */
export class ComputerAPI {
  private readonly base: string;

  constructor(computer: ID) {
    this.base = `/api/computers/${computer}`;
  }

  show(): Promise<Computer> {
    return ask(this.base);
  }
  credentials(): Promise<Grant> {
    // One that hangs must not use up all patience.
    return ask(`${this.base}/bus`, { method: "POST", signal: AbortSignal.timeout(4_000) });
  }
  /** Where the desktop's frame begins: works once, within 30 seconds. */
  ticket(): Promise<{ url: string }> {
    return ask(`${this.base}/ticket`, { method: "POST" });
  }
  /** Where the frame begins that shows the desktop as it was. */
  pastTicket(): Promise<{ url: string }> {
    return ask(`${this.base}/ticket?past=true`, { method: "POST" });
  }
  /** What the desktop's origin serves; brings its development server up when it needs one. */
  source(): Promise<Source> {
    return ask(`${this.base}/desktop/source`);
  }
  /** Merges what a newer shipped desktop changed into the workspace's. */
  upgrade(dryRun: boolean): Promise<Upgrade> {
    return ask(`${this.base}/desktop/upgrade`, { method: "POST", body: { dry_run: dryRun } });
  }
  checkpoints(): Promise<Checkpoint[]> {
    return list(`${this.base}/checkpoints?limit=10`);
  }
  runs(): Promise<Run[]> {
    return list(`${this.base}/runs?limit=200`);
  }
  /** Events in order after `after`, at most 1,000; of one run when given. */
  events(after: number, run?: ID): Promise<EventPage> {
    return ask(`${this.base}/events?limit=1000&after=${after}${run ? `&run=${run}` : ""}`);
  }
  prompt(text: string, repo: string, key: string): Promise<{ run: ID; seq: number }> {
    return ask(`${this.base}/prompts`, { method: "POST", body: { text, ...(repo ? { repo } : {}) }, key });
  }
  demo(): Promise<{ run: ID; repo: string; notice: string }> {
    return ask(`${this.base}/demo`, { method: "POST", body: {} });
  }
  cancel(run: ID): Promise<void> {
    return ask(`${this.base}/runs/${run}/cancel`, { method: "POST" });
  }
  steer(run: ID, text: string): Promise<void> {
    return ask(`${this.base}/runs/${run}/steer`, { method: "POST", body: { text } });
  }
  answer(run: ID, question: string, text: string): Promise<void> {
    return ask(`${this.base}/runs/${run}/answers`, { method: "POST", body: { question, text } });
  }
  repos(): Promise<RepoAdded[]> {
    return list(`${this.base}/repos`);
  }
  /** Marks before an event, newest first; before 0 means all. */
  timeline(limit: number, before: number): Promise<TimelinePage> {
    return ask(`${this.base}/timeline?limit=${limit}&before=${before}`);
  }
  /** The computer as it was after an event; the present is not touched. */
  moment(seq: number): Promise<Moment> {
    return ask(`${this.base}/at/${seq}`);
  }
  folder(seq: number, path: string): Promise<FileState[]> {
    return list(`${this.base}/at/${seq}/folder?path=${encodeURIComponent(path)}`);
  }
  fileAddress(seq: number, path: string): string {
    return `${this.base}/at/${seq}/file?path=${encodeURIComponent(path)}`;
  }
  file(seq: number, path: string): Promise<ArrayBuffer> {
    return askBytes(this.fileAddress(seq, path));
  }
  undo(of: ID, dryRun: boolean): Promise<Undone> {
    return ask(`${this.base}/undo`, { method: "POST", body: { of, dry_run: dryRun } });
  }
  fork(event: number, name: string, dryRun: boolean): Promise<Forked> {
    return ask(`${this.base}/fork`, { method: "POST", body: { event, name, dry_run: dryRun } });
  }
  /** Where the whole computer can be had as one file. */
  get archive(): string {
    return `${this.base}/archive`;
  }
  checkpoint(subject: string): Promise<AssociateResult> {
    return ask(`${this.base}/checkpoints`, { method: "POST", body: subject ? { subject } : {} });
  }
  diff(from: number, to: number): Promise<MomentsView> {
    return ask(`${this.base}/diff?from=${from}&to=${to}`);
  }
  /** Goes back in time; a rewind that takes long is waited for. */
  async rewind(toSeq: number, dryRun: boolean): Promise<Rewound> {
    const begun = await ask<Rewound>(`${this.base}/rewind`, {
      method: "POST",
      body: { to_seq: toSeq, dry_run: dryRun },
    });
    if (!begun.pending) return begun;
    for (;;) {
      await new Promise((later) => setTimeout(later, REWIND_LOOK_MS));
      const { pending, done, failed } = await ask<RewindState>(`${this.base}/rewind`);
      if (done) return done;
      if (failed)
        throw new Refusal({
          status: 0,
          code: failed.code,
          detail: failed.detail,
          ...(failed.remedy ? { remedy: failed.remedy } : {}),
        });
      if (!pending)
        throw new Refusal({
          status: 0,
          code: "unavailable",
          detail: "choir was restarted during the rewind",
          remedy: "see in the timeline whether it was done",
        });
    }
  }
  document(document: ID, version: number): Promise<DocumentVersion> {
    return ask(`${this.base}/documents/${document}?version=${version}`);
  }
  blob(digest: Digest): Promise<string> {
    return askText(`${this.base}/blobs/${digest}`);
  }
}
