import type { Named } from "../i18n/words";

/** What the session knows of an app. */
export interface AppFacts {
  /** Lower-case letters, digits and dash; the name in events. */
  id: string;
  title: Named;
  /** Size of a new window, in CSS pixels. */
  size: { width: number; height: number };
  /** Only one window of it, whatever the subject. */
  single?: boolean;
  /** A window of it without a subject shows nothing: what is opened next takes it. */
  blank?: boolean;
}

/** The apps there are. The page passes them to its session, which imports none: apps are made of the session. */
export interface Apps {
  /** The app of an id, also of one it had before. */
  of(id: string): AppFacts | undefined;
  /** The apps that open a subject, the best first. */
  openers(subject: string): readonly AppFacts[];
  /** Fetches the code of an app before its window is there; a failure is shown in the window. */
  preload(id: string): void;
}
