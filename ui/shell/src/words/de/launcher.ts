import type { Translated } from "#base/domain/words.ts";
import type { launcher as english } from "../en/launcher";

export const launcher: Translated<typeof english> = {
  search: "Aktionen und Läufe suchen",
  placeholder: "Was soll geschehen?",
  found: "Aktionen und Läufe",
  none: "Nichts heißt so.",
  stopRun: "Diesen Lauf anhalten",
  toDesktop: "Zur Arbeitsfläche",
  writePrompt: "Einen Auftrag schreiben",
  playDemo: "Die aufgezeichnete Vorführung abspielen",
  checkpoint: "Einen Sicherungspunkt anlegen",
  openTimeline: "Die Zeitachse öffnen",
  recover: "Die Arbeitsfläche reparieren",
  models: "{models}, und Grenzen",
  toRuns: "Zu {runs}, ohne Arbeitsfläche",
};
