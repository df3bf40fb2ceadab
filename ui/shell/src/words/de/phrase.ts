import type { Translated } from "#base/domain/words.ts";
import type { phrase as english } from "../en/phrase";

export const phrase: Translated<typeof english> = {
  yours: "Dein Satz:",
  none: "Die Seite eines Agenten kann aussehen wie diese. Einen Satz von dir kann sie nicht kennen.",
  choose: "Satz wählen",
  change: "Ändern",
  about:
    "Worte, die du wiedererkennst. Diese Seiten zeigen sie, und keine Seite eines Agenten kann es. Wo sie fehlen, gib keinen Schlüssel ein und beantworte nichts.",
  save: "Speichern",
  cancel: "Abbrechen",
};
