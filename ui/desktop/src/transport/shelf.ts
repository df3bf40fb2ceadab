import { past } from "./address";
import { hearShell, isFramed, tellShell } from "./shell";

/** A text that could not be sent, with what it takes to send it once more. */
export interface Held {
  app: string;
  subject: string;
  text: string;
  base: string;
  /** What the server had when the text was typed; of revision 0 when that was none. */
  known: { revision: number; text: string; base: string };
  /** What is saved, of which the text was made. */
  origin?: string;
}

/** Where texts lie that the computer has not got. */
export interface Shelf {
  /** What lay there when the page was loaded. */
  readonly found: Promise<Held[]>;
  put(held: Held): void;
  remove(app: string, subject: string): void;
}

/** How long the page around this one has to say what it holds, in milliseconds. */
const PATIENCE_MS = 3_000;

/** Reads what `put` wrote; undefined for anything else. */
export function readHeld(raw: string): Held | undefined {
  let held: Partial<Held> | null;
  try {
    held = JSON.parse(raw) as Partial<Held> | null;
  } catch {
    return undefined;
  }
  if (typeof held?.text !== "string" || typeof held.base !== "string") return undefined;
  if (typeof held.app !== "string" || typeof held.subject !== "string") return undefined;
  if (held.origin !== undefined && typeof held.origin !== "string") return undefined;
  const { known } = held;
  const isKnown = typeof known?.text === "string" && typeof known.base === "string" && known.revision >= 0;
  return isKnown ? (held as Held) : undefined;
}

/** The shelf that the shell keeps for this page: a browser may give a frame of another origin no storage. */
function shelfOfShell(): Shelf {
  const found = new Promise<Held[]>((done) => {
    setTimeout(() => done([]), PATIENCE_MS);
    const stopHearing = hearShell((message) => {
      if (message.kind !== "held") return;
      stopHearing();
      done(message.texts.flatMap((raw) => readHeld(raw) ?? []));
    });
  });
  const hold = (app: string, subject: string, text: string) =>
    tellShell({ kind: "hold", name: `${app} ${subject}`, text });
  return {
    found,
    put: (held) => hold(held.app, held.subject, JSON.stringify(held)),
    remove: (app, subject) => hold(app, subject, ""),
  };
}

/** The shelf of this page. A page of the past has typed nothing, and one without a shell keeps texts in its memory alone. */
export const shelf: Shelf =
  past || !globalThis.window || !isFramed()
    ? { found: Promise.resolve([]), put: () => undefined, remove: () => undefined }
    : shelfOfShell();
