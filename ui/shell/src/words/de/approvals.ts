import type { Translated } from "#base/domain/words.ts";
import type { approvals as english } from "../en/approvals";

export const approvals: Translated<typeof english> = {
  title: "Freigaben",
  waits: { one: "Ein Ergebnis wartet auf deine Freigabe", other: "{n} Ergebnisse warten auf deine Freigabe" },
  about:
    "Eine Regel in choir.toml ([[approve]]) hält diese Ergebnisse zurück: Nichts davon ist in den Dateien. Freigeben bringt genau das Gezeigte hinein, und nichts läuft noch einmal. Offene Terminals enden dabei.",
  reading: "Es wird gelesen, was wartet…",
  notRead: "Was wartet, ließ sich nicht lesen: {why}",
  none: "Nichts wartet auf deine Freigabe.",
  rule: "Zurückgehalten durch: {rule}",
  change: { one: "{n} Datei, Zeilen: +{added} −{removed}", other: "{n} Dateien, Zeilen: +{added} −{removed}" },
  ran: "Ausgeführt: {command} (Exit-Code {code})",
  checked: "Geprüft mit: {command} (Exit-Code {code})",
  wanted: "Wollte {host}; nichts wurde gesendet",
  reached: "Hat {host} erreicht",
  beside: "Etwas anderes in der Sandbox hat währenddessen {host} erreicht",
  moreHosts: "Und mehr Hosts, als hier stehen",
  pass: "Geprüft: {proves}",
  fail: "Die Prüfung schlug fehl",
  unknown: "Nicht geprüft",
  says: "Der Agent sagt: {text}",
  inGit: { one: "Und {n} Pfad in den Ordnern von git", other: "Und {n} Pfade in den Ordnern von git" },
  nothing: "Außerhalb der Ordner von git ändert sich keine Datei.",
  reason: "Warum nicht, für den Agenten",
  approve: "Freigeben",
  refuse: "Ablehnen",
  again: "Noch einmal ausführen",
  moved:
    "Die Dateien haben sich seitdem geändert. Nichts wurde geändert; auf dem jetzigen Stand kann es noch einmal laufen.",
};
