import { afterEach, expect, it } from "vitest";
import { speak } from "./language";
import { changeSaid, markSaid, type Tellable } from "./marksaid";

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

it.each([
  [
    { change: "opened", app: "writer", title: "Plan" },
    "Window Writer “Plan” is opened",
    "Fenster Texte „Plan“: geöffnet",
  ],
  [{ change: "minimised", app: "files", title: "Files" }, "Window Files is minimised", "Fenster Dateien: minimiert"],
  [{ change: "closed", app: "mine" }, "Window mine is closed", "Fenster mine: geschlossen"],
  [
    { change: "shows", app: "files", title: "home", to: "{text}" },
    "Window Files “home” shows “{text}” instead",
    "Fenster Dateien „home“: zeigt jetzt „{text}“",
  ],
  [
    { change: "shows", app: "files" },
    "Window Files shows something else instead",
    "Fenster Dateien: zeigt jetzt etwas anderes",
  ],
  [{ change: "set", key: "dock", to: "left" }, "Dock: the default, then left", "Dock: die Vorgabe, danach left"],
] as const)("says how the desktop differs: $change", (change, english, german) => {
  expect(changeSaid(change)).toBe(english);
  speak("de");
  expect(changeSaid(change)).toBe(german);
});
