import { afterEach, expect, it } from "vitest";
import { speak } from "./language";
import { markSaid, type Tellable } from "./marksaid";

afterEach(() => speak("en"));

const mark = (kind: Tellable["kind"], told: Tellable["told"], files = 0): Tellable => ({ kind, text: "", told, files });

it.each([
  [mark("prompt", { sentence: "asked", about: ["count birds"] }), "You asked: count birds", "Auftrag: count birds"],
  [mark("answer", { sentence: "runDone" }), "The run finished", "Der Lauf ist fertig"],
  [
    mark("call", { sentence: "callFile", tool: "write_file", about: ["a.txt"] }, 1),
    "write_file changed a.txt",
    "write_file änderte a.txt",
  ],
  [
    mark("call", { sentence: "callAbout", tool: "bash", about: ["make"] }, 3),
    "bash changed 3 files: make",
    "bash änderte 3 Dateien: make",
  ],
  [mark("call", { sentence: "call", tool: "bash" }, 1), "bash changed 1 file", "bash änderte 1 Datei"],
  [
    mark("files", { sentence: "youChanged", about: ["a"], more: 2 }),
    "You changed a and 2 more",
    "Von Hand geändert: a und 2 weitere",
  ],
  [
    mark("windows", { sentence: "youSnapped", about: ["home", ""] }),
    "You snapped home, a window",
    "home, ein Fenster angedockt",
  ],
  [
    mark("windows", { sentence: "runOpened", about: ["terminal"] }),
    "The run opened Terminal",
    "Der Lauf öffnete Terminal",
  ],
  [
    mark("windows", { sentence: "youArranged", about: ["writer", "constructor"], more: 1 }),
    "You arranged Writer, constructor and 1 more",
    "Texte, constructor und 1 weitere angeordnet",
  ],
  [mark("document", { sentence: "youRemoved", about: [""] }), "You removed a document", "Ein Dokument entfernt"],
  [
    mark("caches", { sentence: "cachesKept" }),
    "Every cache is kept again",
    "Jeder Zwischenspeicher wird wieder aufbewahrt",
  ],
])("says $told.sentence in each language", (m, english, german) => {
  expect(markSaid(m)).toBe(english);
  speak("de");
  expect(markSaid(m)).toBe(german);
});

it("says a mark that it does not know in the words of the log", () => {
  expect(markSaid({ ...mark("theme", { sentence: "later" }), text: "something new" })).toBe("Something new");
});
