import type { ID, Time } from "#base/domain/contracts.ts";

/** What this desktop says to the shell around it. */
export type ToShell =
  /** This page takes keys, and opens its launcher when the shell says so. */
  | { kind: "ready"; launcher?: true }
  | { kind: "chord"; chord: "stop" | "launcher" }
  | { kind: "open"; page: Page; seq?: number; back?: true }
  /** Asks for the page on which the owner can have taken back what a run changed. */
  | { kind: "open"; page: "undo"; run: ID }
  | { kind: "draft"; text: string }
  /** Gives a text to hold that the computer did not get; "" when it has it. */
  | { kind: "hold"; name: string; text: string }
  /** The person wants the keyboard in the shell. */
  | { kind: "leave" }
  /** Asks the shell to show the address, and to open it when the owner says so. */
  | { kind: "link"; address: string };

/** A page of the shell that may be asked for: to look at, never to act. */
export type Page = "models" | "keys" | "limits" | "timeline" | "checkpoint" | "recover" | "runs";

/** What the shell says. */
export type FromShell =
  | { kind: "draft"; text: string }
  | { kind: "focus" }
  /** The person pressed the launcher's button in the bar of the shell, or its keys there. */
  | { kind: "launcher" }
  /** What was given to hold before this page was loaded. */
  | { kind: "held"; texts: string[] }
  /** Only a page of the past hears it: what it is to show. */
  | { kind: "moment"; seq: number; at: Time };

/** Whether a shell is around this page. */
export const isFramed = () => window.parent !== window;

/**
 * Says something to the shell; nothing happens without one. The policy of this page lets
 * nobody else frame it, so the parent is the shell, whatever its name.
 */
export function tellShell(message: ToShell): void {
  if (isFramed()) window.parent.postMessage({ choir: 1, ...message }, "*");
}

/** Reads a message; undefined for what means nothing. */
export function readMessage(data: unknown): FromShell | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { choir, kind, text, texts, seq, at } = data as Record<string, unknown>;
  if (choir !== 1) return undefined;
  if (kind === "moment")
    return Number.isSafeInteger(seq) && typeof at === "string" ? { kind, seq: Number(seq), at } : undefined;
  if (kind === "focus" || kind === "launcher") return { kind };
  if (kind === "held")
    return Array.isArray(texts) && texts.every((one) => typeof one === "string") ? { kind, texts } : undefined;
  return kind === "draft" && typeof text === "string" ? { kind, text } : undefined;
}

/** Listens to the shell, and to nobody else; gives what ends it. */
export function hearShell(heard: (message: FromShell) => void): () => void {
  const hear = (e: MessageEvent) => {
    if (!isFramed() || e.source !== window.parent) return;
    const message = readMessage(e.data);
    if (message) heard(message);
  };
  addEventListener("message", hear);
  return () => removeEventListener("message", hear);
}
