import type { Event, ThemeChanged } from "#base/domain/contracts.ts";
import { touchesSource } from "./source";

/** What the page does after an event, besides keeping it. */
export type Effect =
  /** Draws the shell under another theme of the desktop. */
  | { kind: "wear"; theme: ThemeChanged }
  /** Speaks the language of a setting; of the browser when it is empty. */
  | { kind: "speak"; setting: string }
  /** Reads the theme with the settings, the projects or the computer anew. */
  | { kind: "readLook" }
  | { kind: "readRepos" }
  | { kind: "readComputer" }
  /** Looks whether the desktop is served from elsewhere now. */
  | { kind: "touchSource" }
  /** Says to those who hear the page what becomes of a run. */
  | { kind: "announce"; event: Event }
  /** Shows a short answer of the Director. */
  | { kind: "showAnswer"; text: string };

/** The key of the setting that names the language. */
export const LANGUAGE = "language";

/** What is said of a run, once, to those who hear the page. */
const announced: ReadonlySet<string> = new Set(["prompt.submitted", "question.asked", "run.finished"]);

/** The effects of an event; `desktopAnswers` says that the desktop is shown, which says by itself what was answered. */
export function effectsOf(event: Event, desktopAnswers: boolean): Effect[] {
  const effects: Effect[] = [];
  if (touchesSource(event)) effects.push({ kind: "touchSource" });
  if (event.type === "theme.changed") effects.push({ kind: "wear", theme: event.payload });
  if (event.type === "timeline.rewound") effects.push({ kind: "readLook" });
  if (event.type === "setting.changed" && event.payload.key === LANGUAGE)
    effects.push({ kind: "speak", setting: event.payload.value ?? "" });
  if (event.type === "toast.shown" && !desktopAnswers) effects.push({ kind: "showAnswer", text: event.payload.text });
  if (announced.has(event.type) && !desktopAnswers) effects.push({ kind: "announce", event });
  if (event.type === "repo.added") effects.push({ kind: "readRepos" });
  // The levels and keys of sandboxes are part of the computer, and how much waits for its owner.
  if (/^(sandbox|egress\.[^p]|effect|task\.ret)/.test(event.type)) effects.push({ kind: "readComputer" });
  return effects;
}
