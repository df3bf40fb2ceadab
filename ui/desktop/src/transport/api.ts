import type { AssociateResult, Digest, FileState, ID, ProposalTarget, RepoAdded, Time } from "../domain/contracts";
import type { Computer, DocumentVersion, EventPage, Grant, Mark, Run } from "../domain/views";
import { base } from "./address";
import { asOf, upToThen } from "./asof";
import { ask, askText, list } from "./http";

/** A document as it is listed. */
export interface Listed {
  id: ID;
  run?: ID;
  title: string;
  version: number;
  updated_at?: Time;
}

/** The computer itself, its runs, events and documents. */
export const api = {
  show: () => ask<Computer>(base),
  // One that hangs must not use up all patience.
  credentials: () => ask<Grant>(`${base}/bus`, { method: "POST", signal: AbortSignal.timeout(4_000) }),
  runs: () => list<Run>(`${base}/runs?limit=200`),
  run: (run: ID) => ask<Run>(`${base}/runs/${run}`),
  /** Events in order after `after`, at most 1,000; of one run when given. */
  events: async (after: number, run?: ID) => {
    const page = await ask<EventPage>(`${base}/events?limit=1000&after=${after}${run ? `&run=${run}` : ""}`);
    return { ...page, events: upToThen(page.events) };
  },
  prompt: (text: string, repo: string, key: string, proposal?: ProposalTarget) =>
    ask<{ run: ID; seq: number }>(`${base}/prompts`, {
      method: "POST",
      body: { text, ...(repo ? { repo } : {}), ...(proposal ? { proposal } : {}) },
      key,
    }),
  cancel: (run: ID) => ask<void>(`${base}/runs/${run}/cancel`, { method: "POST" }),
  steer: (run: ID, text: string) => ask<void>(`${base}/runs/${run}/steer`, { method: "POST", body: { text } }),
  answer: (run: ID, question: string, text: string) =>
    ask<void>(`${base}/runs/${run}/answers`, { method: "POST", body: { question, text } }),
  repos: () => list<RepoAdded>(`${base}/repos`),
  documents: () => list<Listed>(asOf(`${base}/documents`)),
  document: (document: ID, version = -1) => ask<DocumentVersion>(`${base}/documents/${document}?version=${version}`),
  checkpoint: (subject: string) =>
    ask<AssociateResult>(`${base}/checkpoints`, { method: "POST", body: subject ? { subject } : {} }),
  blob: (digest: Digest) => askText(`${base}/blobs/${digest}`),
  timeline: (limit: number, before: number) =>
    ask<{ marks: Mark[]; head: number }>(`${base}/timeline?limit=${limit}&before=${before}`),
  folderAt: (seq: number, path: string) => list<FileState>(`${base}/at/${seq}/folder?path=${encodeURIComponent(path)}`),
};
