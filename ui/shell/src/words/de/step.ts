import type { Translated } from "#base/domain/words.ts";
import type { step as english } from "../en/step";

export const step: Translated<typeof english> = {
  goBack: "Zurückgehen",
  goBackTo: "Zurückgehen zu {when}?",
  forward: "Im Protokoll ist das ein Schritt nach vorn, es behält alles: das lässt sich zurücknehmen.",
  goingBack: "Es geht zurück …",
  wentBack: "Zurückgegangen zu {when}",
  wentBackFiles: { one: "{said}: {n} Datei geändert", other: "{said}: {n} Dateien geändert" },
  noFile: "Keine Datei ändert sich.",
  filesWill: { one: "{n} Datei ändert sich.", other: "{n} Dateien ändern sich." },
  moreFilesWill: { one: "Mehr als {n} Datei ändert sich.", other: "Mehr als {n} Dateien ändern sich." },
  documentGone: "Das Dokument „{title}“ ist dann nicht mehr da.",
  documentBack: "Das Dokument „{title}“ geht auf v{version} zurück.",
  stays: "Berechtigungen, Kosten und die Aufzeichnung der Läufe bleiben, wie sie sind.",
  stops: "Dieser Lauf ist in Arbeit und wird angehalten: {prompt}",
  undoThis: "Das zurücknehmen",
  undoQuestion: "Das zurücknehmen?",
  undoMore: "{title}. Was danach kam, bleibt.",
  nothingLeft: "Davon ist nichts mehr da, was zurückgenommen werden kann.",
  conflicts: {
    one: "Nichts wurde geändert: {n} Datei hat sich seither an derselben Stelle noch einmal geändert. Zuerst den späteren Schritt zurücknehmen, oder vor beide zurückgehen.",
    other:
      "Nichts wurde geändert: {n} Dateien haben sich seither an derselben Stelle noch einmal geändert. Zuerst den späteren Schritt zurücknehmen, oder vor beide zurückgehen.",
  },
  undid: { one: "Zurückgenommen: {n} Datei geändert", other: "Zurückgenommen: {n} Dateien geändert" },
  undo: "Zurücknehmen",
  undone: "Zurückgenommen",
  open: "Öffnen",
  isReady: "„{name}“ ist bereit",
  checkpointMade: "Sicherungspunkt {id} angelegt",
  forkFrom: "Abzweigen ab {when}",
  forkMore: "Ein zweiter Computer, der bis dahin dieselbe Vergangenheit hat. Keiner ändert den anderen.",
  name: "Name",
  myComputer: "Mein Computer",
  forkName: "{name}, ab {when}",
  keysStay: {
    one: "{n} Datei sieht nach einem Schlüssel aus und bleibt hier: {paths}",
    other: "{n} Dateien sehen nach Schlüsseln aus und bleiben hier: {paths}",
  },
  forking: "Es wird abgezweigt …",
  makeFork: "Ab hier abzweigen",
};
