import type { AssociateResult, Digest, ID, ProposalTarget, RepoAdded } from "../domain/contracts";
import type { Computer, DocumentVersion, EventPage, Grant, Run } from "../domain/views";
import { ask, askText, list } from "./http";

/** What a prompt is about, besides its words. */
export interface About {
  /** Project under workspace/. */
  repo?: string;
  /** Where its answer is proposed. */
  proposal?: ProposalTarget;
  /** The run that it follows up. */
  after?: ID;
}

/** What both pages ask one computer, whose API lies at `at`. */
export const computerAsks = (at: string) => ({
  show: () => ask<Computer>(at),
  // One that hangs must not use up all patience.
  credentials: () => ask<Grant>(`${at}/bus`, { method: "POST", signal: AbortSignal.timeout(4_000) }),
  runs: () => list<Run>(`${at}/runs?limit=200`),
  /** Events in order after `after`, at most 1,000; of one run when given. */
  events: (after: number, run?: ID) =>
    ask<EventPage>(`${at}/events?limit=1000&after=${after}${run ? `&run=${run}` : ""}`, {
      signal: AbortSignal.timeout(30_000), // a page is at most some MB; the feed stands while one hangs
    }),
  prompt: (text: string, key: string, about: About = {}) =>
    ask<{ run: ID; seq: number }>(`${at}/prompts`, { method: "POST", body: { text, ...about }, key }),
  cancel: (run: ID) => ask<void>(`${at}/runs/${run}/cancel`, { method: "POST" }),
  /** Plays the rest of a paced demo at full speed. */
  hurry: (run: ID) => ask<void>(`${at}/runs/${run}/faster`, { method: "POST" }),
  /** Begins the recorded demo: at once, or at the pace of a reader. */
  demo: (paced: boolean) =>
    ask<{ run: ID; repo: string; notice: string }>(`${at}/demo`, { method: "POST", body: paced ? { paced } : {} }),
  /** Puts away the card of a run that has ended. */
  dismiss: (run: ID) => ask<void>(`${at}/runs/${run}/dismiss`, { method: "POST" }),
  steer: (run: ID, text: string) => ask<void>(`${at}/runs/${run}/steer`, { method: "POST", body: { text } }),
  answer: (run: ID, question: string, text: string) =>
    ask<void>(`${at}/runs/${run}/answers`, { method: "POST", body: { question, text } }),
  repos: () => list<RepoAdded>(`${at}/repos`),
  /** One version of a document; -1 is the newest. */
  document: (document: ID, version = -1) => ask<DocumentVersion>(`${at}/documents/${document}?version=${version}`),
  checkpoint: (subject: string) =>
    ask<AssociateResult>(`${at}/checkpoints`, { method: "POST", body: subject ? { subject } : {} }),
  blob: (digest: Digest) => askText(`${at}/blobs/${digest}`),
});
