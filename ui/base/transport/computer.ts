import type { Digest, ID } from "../domain/contracts";
import type { Body } from "../domain/operations";
import { ACT_MS, ask, askText } from "./http";

/** What a prompt is about, besides its words. */
export type About = Omit<Body<"submitPrompt">, "text">;

/** What both pages ask one computer, whose API lies at `at`. */
export const computerAsks = (at: string) => ({
  show: () => ask<"getComputer">(at),
  // One that hangs must not use up all patience.
  credentials: () => ask<"newBusCredentials">(`${at}/bus`, { method: "POST", patience: 4_000 }),
  runs: () => ask<"listRuns">(`${at}/runs?limit=200`),
  /** Events in order after `after`, at most 1,000; of one run when given. */
  events: (after: number, run?: ID) =>
    // A page is at most some MB; the feed stands while one hangs.
    ask<"listEvents">(`${at}/events?limit=1000&after=${after}${run ? `&run=${run}` : ""}`),
  prompt: (text: string, key: string, about: About = {}) =>
    ask<"submitPrompt">(`${at}/prompts`, { method: "POST", body: { text, ...about }, key, patience: ACT_MS }),
  cancel: (run: ID) => ask<"cancelRun">(`${at}/runs/${run}/cancel`, { method: "POST", patience: ACT_MS }),
  /** Plays the rest of a paced demo at full speed. */
  hurry: (run: ID) => ask<"hurryRun">(`${at}/runs/${run}/faster`, { method: "POST", patience: ACT_MS }),
  /** Begins the recorded demo: at once, or at the pace of a reader. */
  demo: (paced: boolean) => ask<"startDemo">(`${at}/demo`, { method: "POST", body: paced ? { paced } : {} }),
  /** Puts away the card of a run that has ended. */
  dismiss: (run: ID) => ask<"dismissRun">(`${at}/runs/${run}/dismiss`, { method: "POST", patience: ACT_MS }),
  steer: (run: ID, text: string) =>
    ask<"steerRun">(`${at}/runs/${run}/steer`, { method: "POST", body: { text }, patience: ACT_MS }),
  answer: (run: ID, question: string, text: string) =>
    ask<"answerRun">(`${at}/runs/${run}/answers`, { method: "POST", body: { question, text }, patience: ACT_MS }),
  repos: () => ask<"listRepos">(`${at}/repos`),
  /** One version of a document; -1 is the newest. */
  document: (document: ID, version = -1) => ask<"getDocument">(`${at}/documents/${document}?version=${version}`),
  checkpoint: (subject: string) =>
    ask<"makeCheckpoint">(`${at}/checkpoints`, { method: "POST", body: subject ? { subject } : {} }),
  blob: (digest: Digest) => askText(`${at}/blobs/${digest}`),
});
