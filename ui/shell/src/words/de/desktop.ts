import type { Translated } from "#base/domain/words.ts";
import type { desktop as english } from "../en/desktop";

export const desktop: Translated<typeof english> = {
  of: "Arbeitsfläche von {name}",
  hide: "Das ausblenden",
  linkAsked: "Ein Link führt nach außen",
  linkQuestion: "Diese Seite außerhalb des Computers öffnen? Ihr Server erhält die ganze Adresse: {address}",
  newTab: "In neuem Tab öffnen",
  noModel: "Kein Modell ist verbunden",
  newer: "Eine neuere Arbeitsfläche",
  newerMore:
    "Dieses choir bringt eine neuere Arbeitsfläche mit. Die hiesige wurde verändert und deshalb so gelassen, wie sie ist.",
  seeChange: "Zeigen, was sich ändern würde",
  brokenSource: "{error}. Gezeigt wird die Arbeitsfläche, die mit choir kam.",
  broke: "Eine Änderung am Quelltext der Arbeitsfläche hat {file} beschädigt.",
  brokeIt: "Eine Änderung am Quelltext der Arbeitsfläche hat sie beschädigt.",
  silent: "Die Arbeitsfläche antwortet nicht. Dateien, Läufe und Dokumente sind nicht betroffen.",
  tellRun: "Dem Lauf sagen, der das verursacht hat",
  fixIt: "Reparieren lassen",
  upgrade: "Die Arbeitsfläche aktualisieren",
  upgradeQuestion: "Die Arbeitsfläche aktualisieren?",
  upgradeMore:
    "Was die neuere geändert hat, kommt in die hiesige, in einem Schritt, der sich zurücknehmen lässt. Eigene Änderungen bleiben erhalten.",
  upgrading: "Wird aktualisiert …",
  upgradeNow: "Aktualisieren",
  upgraded: "Die Arbeitsfläche wurde aktualisiert",
  upgradedBut: {
    one: "Die Arbeitsfläche wurde aktualisiert, bis auf {n} Datei",
    other: "Die Arbeitsfläche wurde aktualisiert, bis auf {n} Dateien",
  },
  fate: { one: "{fate}: {n} Datei", other: "{fate}: {n} Dateien" },
  fateConflict: "Auf beiden Seiten an derselben Stelle geändert, bleibt, wie es ist",
  fateMerged: "Auf beiden Seiten geändert, zusammengeführt",
  fateUpdated: "Aktualisiert",
  fateAdded: "Neu",
  fateRemoved: "Entfernt",
  fateKept: "Nur hier geändert, bleibt erhalten",
  noModelSaid: "Kein Modell ist verbunden.",
  demoWithout: "{missing} Die aufgezeichnete Vorführung braucht keines.",
};
