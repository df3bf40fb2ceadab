import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Mark, MarkKind } from "#base/domain/views.ts";
import { say } from "../../i18n/words";
import { words } from "./i18n";
import { inOrder, leap, placeOf, wordsOf } from "./marks";

const mark = (seq: number, kind: MarkKind = "files", more: Partial<Mark> = {}): Mark => ({
  seq,
  at: "2026-11-21T02:28:00.000Z",
  kind,
  source: "user",
  text: "",
  ...more,
});

describe("pages of marks", () => {
  it("become one list from the oldest on, and what was read last holds", () => {
    const pages = [{ marks: [mark(9), mark(7, "task", { text: "new" })] }, { marks: [mark(7, "task"), mark(2)] }];
    expect(inOrder(pages).map((m) => m.seq)).toEqual([2, 7, 9]);
    expect(inOrder(pages)[1]?.text).toBe("new");
  });
});

describe("placeOf", () => {
  it("is the last mark that is not after the event", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 500 })), fc.integer({ min: 0, max: 510 }), (seqs, at) => {
        const marks = seqs.sort((a, b) => a - b).map((s) => mark(s));
        expect(placeOf(marks, at)).toBe(marks.filter((m) => m.seq <= at).length - 1);
      }),
    );
  });
});

describe("leap", () => {
  const marks = [
    mark(1),
    ...[2, 3, 4].map((s) => mark(s, "call", { run: "a" })),
    mark(5, "call", { run: "b" }),
    mark(6),
  ];

  it("goes from the beginning of a run to that of the next, and to now", () => {
    const from = (at: number, by: 1 | -1) => {
      const places = [at];
      for (;;) {
        const next = leap(marks, places.at(-1) ?? 0, by);
        if (next === places.at(-1)) return places;
        places.push(next);
      }
    };
    expect(from(0, 1)).toEqual([0, 1, 4, 5, 6]);
    expect(from(6, -1)).toEqual([6, 5, 4, 1, 0]);
  });
});

describe("the words of a mark", () => {
  const en = (m: Mark) => wordsOf(m, (key, values) => say(words, "en", key, values));
  const de = (m: Mark) => wordsOf(m, (key, values) => say(words, "de", key, values));

  it.each([
    [mark(1, "prompt", { text: "count birds" }), "You asked: count birds", "Ihr Auftrag: count birds"],
    [mark(1, "answer", { text: "finished: done" }), "The run finished", "Der Lauf ist fertig"],
    [mark(1, "call", { text: "write_file a.txt", files: 1 }), "write_file changed a.txt", "write_file änderte a.txt"],
    [mark(1, "call", { text: "run make", files: 3 }), "run changed 3 files: make", "run änderte 3 Dateien: make"],
    [mark(1, "checkpoint", { text: "checkpoint: 2026-11-21" }), "Checkpoint", "Sicherungspunkt"],
    [
      mark(1, "rewind", { source: "user" }),
      "You went back to an earlier moment",
      "Sie sind zu einem früheren Zeitpunkt zurückgegangen",
    ],
    [mark(1, "files", { text: "you changed a.txt" }), "You changed a.txt", "Sie änderten a.txt"],
    [mark(1, "windows", { text: "you snapped home" }), "You snapped home", "Sie dockten home an"],
    [mark(1, "windows", { text: "the run opened terminal" }), "The run opened terminal", "Der Lauf öffnete terminal"],
    [mark(1, "document", { text: "you wrote Notes" }), "You wrote Notes", "Sie schrieben Notes"],
    [
      mark(1, "task", { text: "failed and taken back: sort" }),
      "Task failed and taken back: sort",
      "Aufgabe gescheitert und zurückgenommen: sort",
    ],
    [
      mark(1, "call", { text: "a command of the task changed a.txt", files: 1 }),
      "A command of the task changed a.txt",
      "Ein Befehl der Aufgabe änderte a.txt",
    ],
    [mark(1, "theme", { text: "theme: dark" }), "Theme: dark", "Theme: dark"],
  ])("of $kind", (m, english, german) => {
    expect([en(m), de(m)]).toEqual([english, german]);
  });
});
