import type { Translated } from "#base/domain/words.ts";
import type { recover as english } from "../en/recover";

export const recover: Translated<typeof english> = {
  title: "Die Arbeitsfläche reparieren",
  silent:
    "Die Seite der Arbeitsfläche hat sich nicht bereit gemeldet. Sie lässt sich umschreiben und kann deshalb kaputtgehen; diese Seite nicht.",
  answers: "Die Seite der Arbeitsfläche antwortet. Falls sie trotzdem nicht tut, was sie soll:",
  ways: "Auswege",
  openAgain: "Die Arbeitsfläche neu öffnen",
  goOn: "Weiter in {runs}, ohne Arbeitsfläche",
  chooseMoment: "Einen Zeitpunkt auf der Zeitachse wählen",
  toCheckpoint: "Zu einem Sicherungspunkt zurückgehen",
  searching: "Sicherungspunkte werden gesucht …",
  none: "Es gibt noch keinen Sicherungspunkt.",
  list: "Sicherungspunkte",
  line: "{file}, Zeile {n}",
  lastGood: " · der letzte gute",
  verified: " · geprüft",
};
