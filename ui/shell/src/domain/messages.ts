import type { Time } from "#base/domain/contracts.ts";
import { readLink } from "./link";
import type { Route } from "./route";

/** What a desktop may say to the shell around it. None of it acts but by stopping a run: a link is shown first. */
export type FromDesktop =
  /** It takes keys; `launcher` when it has one of its own, which opens when the shell says so. */
  | { kind: "ready"; launcher?: true }
  | { kind: "chord"; chord: "stop" | "launcher" }
  | { kind: "open"; route: Route }
  | { kind: "draft"; text: string }
  /** A text that the computer did not get, under the desktop's own name for it; "" when it has it. */
  | { kind: "hold"; name: string; text: string }
  | { kind: "leave" }
  | { kind: "link"; address: string };

/** What the shell says to the desktop. */
export type ToDesktop =
  | { kind: "draft"; text: string }
  | { kind: "focus" }
  /** The person asked for the launcher in the shell: that of the desktop finds its apps and files too. */
  | { kind: "launcher" }
  /** The texts that it gave to hold, before this page was loaded. */
  | { kind: "held"; texts: string[] }
  /** To a desktop of the past: what it is to show. */
  | { kind: "moment"; seq: number; at: Time };

/** The longest draft that is kept, in characters. */
const MAX_DRAFT = 100_000;

/** The longest text that is held, and the longest name of one, in characters. */
const MAX_HELD = 500_000;
const MAX_NAME = 5_000;

const runID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The pages of the shell a desktop may ask for by name: to look at, never to act. */
const pages: Record<string, Route> = {
  models: { page: "models", section: "models" },
  keys: { page: "models", section: "keys" },
  limits: { page: "models", section: "limits" },
  timeline: { page: "time" },
  checkpoint: { page: "time" },
  recover: { page: "recover" },
  runs: { page: "runs" },
  // What the pages were called before: a desktop's source may lie in a workspace for long.
  secrets: { page: "models", section: "keys" },
  plain: { page: "runs" },
};

/** Reads a message of a page that nobody vouches for; undefined for what means nothing. */
export function readMessage(data: unknown): FromDesktop | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { choir, kind, chord, page, text, name, seq, run, address, back, launcher } = data as Record<string, unknown>;
  if (choir !== 1) return undefined;
  if (kind === "ready") return launcher === true ? { kind, launcher } : { kind };
  if (kind === "leave") return { kind };
  if (kind === "chord" && (chord === "stop" || chord === "launcher")) return { kind, chord };
  if (kind === "draft" && typeof text === "string" && text.length <= MAX_DRAFT) return { kind, text };
  if (kind === "hold") {
    const fits =
      typeof name === "string" && name.length <= MAX_NAME && typeof text === "string" && text.length <= MAX_HELD;
    return fits ? { kind, name, text } : undefined;
  }
  if (kind === "link") {
    const outside = typeof address === "string" ? readLink(address) : undefined;
    return outside ? { kind, address: outside } : undefined;
  }
  // The page asks, and shows what would be undone: nothing is until a press there.
  if (kind === "open" && page === "undo")
    return typeof run === "string" && runID.test(run) ? { kind, route: { page: "run", run, undo: true } } : undefined;
  if (kind !== "open" || typeof page !== "string" || !Object.hasOwn(pages, page)) return undefined;
  const route = pages[page];
  if (route?.page === "time" && Number.isSafeInteger(seq) && Number(seq) > 0)
    return { kind, route: { page: "time", seq: Number(seq), ...(back === true ? { back } : {}) } };
  return route && { kind, route };
}

/** A message as it is sent. */
export function writeMessage(message: ToDesktop): object {
  return { choir: 1, ...message };
}
