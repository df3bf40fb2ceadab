import { EditorState, type Extension } from "@codemirror/state";
import type { Language } from "../../domain/language";

/** What the editor's own panels say, by the English words that CodeMirror asks with. */
const phrases: Record<Language, Record<string, string>> = {
  en: {
    next: "Next",
    previous: "Previous",
    all: "All",
    "match case": "Match case",
    regexp: "Regular expression",
    "by word": "Whole words",
    replace: "Replace",
    "replace all": "Replace all",
  },
  de: {
    Find: "Suchen",
    Replace: "Ersetzen durch",
    next: "Weiter",
    previous: "Zurück",
    all: "Alle",
    "match case": "Groß- und Kleinschreibung",
    regexp: "Regulärer Ausdruck",
    "by word": "Ganze Wörter",
    replace: "Ersetzen",
    "replace all": "Alle ersetzen",
    close: "Schließen",
    "current match": "dieser Treffer",
    "on line": "in Zeile",
    "replaced match on line $": "Treffer in Zeile $ ersetzt",
    "replaced $ matches": "$ Treffer ersetzt",
    "Go to line": "Gehe zu Zeile",
    go: "Los",
  },
};

/** Has the editor's panels speak a language. */
export function phrasesIn(language: Language): Extension {
  return EditorState.phrases.of(phrases[language]);
}
