import { spoken } from "./language";
import { defineWords, say, type Values } from "./words";

/** The texts of what both pages share. */
export const baseWords = defineWords({
  en: {
    verificationFailed: "Verification failed",
    nothingNew: "Nothing to commit; the files are kept as a snapshot",
    demoNotice: "The model’s words are recorded. Agents, sandbox, files and tests are real; it costs nothing.",
    ticked: "done",
    notTicked: "open",
    changesIn: "Changes in {path}",
    unexpected: "Something unexpected happened",
    answered: "the server answered {status}",
    noAnswer: "the computer does not answer",
    unreachable: "the computer cannot be reached",
    brokeOff: "the computer's answer broke off",
    unreadable: "the computer's answer cannot be read",
    unreadableHelp: "see whether something else than choir answers at this address",
    unreachableHelp: "check that choir is running, then try again",
  },
  de: {
    verificationFailed: "Prüfung gescheitert",
    nothingNew: "Nichts einzutragen; die Dateien sind als Schnappschuss aufbewahrt",
    demoNotice: "Die Worte des Modells sind aufgezeichnet. Agenten, Sandbox und Tests sind echt; es kostet nichts.",
    ticked: "erledigt",
    notTicked: "offen",
    changesIn: "Änderungen in {path}",
    unexpected: "Etwas Unerwartetes ist geschehen",
    answered: "der Server hat mit {status} geantwortet",
    noAnswer: "der Computer antwortet nicht",
    unreachable: "der Computer ist nicht erreichbar",
    brokeOff: "die Antwort des Computers brach ab",
    unreadable: "die Antwort des Computers ist nicht lesbar",
    unreadableHelp: "nachsehen, ob unter dieser Adresse etwas anderes als choir antwortet",
    unreachableHelp: "nachsehen, ob choir läuft, dann erneut versuchen",
  },
});

/** The text of both pages for a key, in the language of the page. */
export function tell(key: keyof typeof baseWords.en, values?: Values): string {
  return say(baseWords, spoken(), key, values);
}
