import type { Event, ID } from "#base/domain/contracts.ts";
import { gist, madeIn, oneLine } from "./card";
import type { Win } from "./windows";

/** What the page does after an event, besides keeping what the event says. */
export type Effect =
  /** Says to those who hear the page what becomes of a run. */
  | { kind: "announce"; words: Said; text: string }
  /** Reads anew what lies on the desktop: what is shown is of before the event. */
  | { kind: "readDesktop"; seq: number }
  /** Reads the theme in force from its file. */
  | { kind: "readTheme" }
  /** Shows the way back to a text that is typed, whose window another browser closed. */
  | { kind: "offerWindow"; app: string; subject: string; name: string }
  /** Opens what a run made because it was asked for. */
  | { kind: "showMade"; run: ID; subject: string }
  /** A run ended: the words that began it may come back. */
  | { kind: "endRun"; run: ID; failed: boolean };

/** The sentences about a run, in the catalogue of the desktop. */
export type Said = "saidBegun" | "saidAsks" | (typeof ends)[keyof typeof ends];

/** What is shown here, as far as effects depend on it. */
export interface Here {
  windows: readonly Win[];
  /** The windows with text that is not saved, and what that is called. */
  unsaved: ReadonlyMap<ID, { name: string }>;
  /** The file of the theme in force. */
  themeFile: string;
}

/** Characters of an answer or a question that are said at most. */
const SAID = 1000;

/** How the end of a run is said. */
const ends = { done: "saidDone", failed: "saidFailed", cancelled: "saidCancelled" } as const;

/** The effects of an event, which do not depend on what was heard before. */
export function effectsOf(event: Event, here: Here): Effect[] {
  switch (event.type) {
    case "prompt.submitted":
      return [{ kind: "announce", words: "saidBegun", text: oneLine(event.payload.text) }];
    case "question.asked":
      return [{ kind: "announce", words: "saidAsks", text: gist(event.payload.question.text, SAID) }];
    case "run.finished":
      return event.run ? endOf(event.run, event.payload) : [];
    case "window.closed":
      return closed(event.payload.window, here);
    case "timeline.rewound":
      return [{ kind: "readDesktop", seq: event.seq }];
    case "file.written":
      return event.payload.files.some((f) => f.path === here.themeFile) ? [{ kind: "readTheme" }] : [];
    default:
      return [];
  }
}

function endOf(run: ID, end: Extract<Event, { type: "run.finished" }>["payload"]): Effect[] {
  const subject = madeIn(end);
  return [
    { kind: "announce", words: ends[end.outcome], text: gist(end.answer, SAID) },
    { kind: "endRun", run, failed: end.outcome === "failed" },
    ...(subject ? [{ kind: "showMade", run, subject } as const] : []),
  ];
}

function closed(id: ID, { windows, unsaved }: Here): Effect[] {
  const text = unsaved.get(id);
  const win = windows.find((w) => w.id === id);
  if (!text || !win) return [];
  return [{ kind: "offerWindow", app: win.app, subject: win.subject ?? "", name: text.name }];
}

/** What was read and may be another now, by the first words of its keys. */
export function staleAfter(events: readonly Event[]): ("files" | "documents" | "repos")[] {
  const has = (...kinds: string[]) => events.some((e) => kinds.some((kind) => e.type.startsWith(kind)));
  return [
    ...(has("file.", "timeline.") ? (["files"] as const) : []),
    ...(has("document.", "overlay.", "timeline.") ? (["documents"] as const) : []),
    ...(has("repo.") ? (["repos"] as const) : []),
  ];
}
