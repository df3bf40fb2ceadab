import type { Translated } from "#base/domain/words.ts";
import type { sandboxes as english } from "../en/sandboxes";

export const sandboxes: Translated<typeof english> = {
  title: "Agenten arbeiten in Sandboxen",
  closed:
    "Ihre Programme haben kein Netz außer dem Zugang zum Modell und dem Bus, nichts aus dem Home-Verzeichnis und keine Geheimnisse.",
  hosts:
    "Ihre Programme erreichen außer dem Zugang zum Modell und dem Bus nur die Hosts, die choir.toml zulässt (egress: {mode}); nichts aus dem Home-Verzeichnis und keine Geheimnisse.",
  director: "Director",
  associate: "Associate",
  notRunning: ", läuft nicht",
  limits: "Grenzen: {limits}",
  missing: "Fehlt auf dieser Maschine: {what}",
  pagesHere: "Seiten in diesem Browser",
  pagesHeld: "Arbeitsfläche und Vorschauen erreichen nur diesen Computer.",
  pagesFree:
    "Dieser Browser ({browser}) hält WebRTC nicht zurück: eine Seite, die Agenten geschrieben haben, kann das Netz erreichen. Chromium ab Version 156 verhindert das.",
  thisBrowser: "unbekannt",
};
