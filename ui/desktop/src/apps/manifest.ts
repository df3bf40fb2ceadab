import type { LucideIcon } from "lucide-react";
import type { ComponentType } from "react";
import type { Named } from "../i18n/words";
import type { AppFacts } from "../session/apps";

/** A key of an app, for its help. */
export interface KeyHelp {
  /** As it is written on the keys: "Ctrl+S"; Ctrl is Cmd on a Mac. */
  keys: string;
  does: Named;
}

/** What the desktop knows of an app before it is loaded. */
export interface Manifest extends AppFacts {
  icon: LucideIcon;
  /** The least size of a window, in CSS pixels. */
  least: { width: number; height: number };
  /** What the app listens to. */
  keys: readonly KeyHelp[];
  /** How well it opens a subject, 0 for not at all; a document is `document:<id>`, a run `run:<id>`, else a path. */
  opens?(subject: string): number;
  /** Not among the apps of dock and launcher: it only opens things. */
  hidden?: boolean;
  /** Shows what was there at an earlier moment, when that is looked at. */
  past?: boolean;
  /** Loads the app itself. */
  load(): Promise<{ default: ComponentType }>;
}

/** One state of an app that the accessibility test puts it into. */
export interface AppState {
  name: string;
  /** What the window is opened with; `run:latest`, `document:sample`, `document:source` and `document:large` stand for what the test made. */
  subject?: string;
  /** What was opened is gone, or too large to be shown: what an app opens, it has a state for. */
  of?: "gone" | "large";
  /** It is there when the window opens, and removed once the window shows it. */
  removed?: true;
  /** What the network does meanwhile: answers, never answers, or refuses. */
  network: "answers" | "hangs" | "fails";
  /** Selectors of what is pressed then, one after the other. */
  press?: readonly string[];
  /** Selector of what is there once the state is reached, within the window. */
  shows: string;
}
