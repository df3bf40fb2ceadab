import { expect, it } from "vitest";
import { event, RUN } from "#base/domain/testing.ts";
import { effectsOf, type Here, staleAfter } from "./heard";
import type { Win } from "./windows";

const WINDOW = "01900000-0000-7000-8000-00000000000c";
const bounds = { x: 0, y: 0, width: 1, height: 1 };
const win: Win = { id: WINDOW, app: "code", subject: "a.txt", bounds, state: "normal", focused_seq: 1 };
const here: Here = {
  windows: [win],
  unsaved: new Map([[WINDOW, { name: "a.txt" }]]),
  themeFile: "choiros/themes/own.json",
};
const file = (path: string) => ({ path, kind: "file" as const, mode: 420, size: 1, mtime_ms: 1 });

it("says once what becomes of a run, and that it ended", () => {
  const of = { run: RUN };
  expect(effectsOf(event(1, "prompt.submitted", { text: "Please\ndo" }, of), here)).toEqual([
    { kind: "announce", words: "saidBegun", text: "Please do" },
  ]);
  expect(effectsOf(event(2, "run.finished", { outcome: "failed", answer: "No" }, of), here)).toEqual([
    { kind: "announce", words: "saidFailed", text: "No" },
    { kind: "endRun", run: RUN, failed: true },
  ]);
});

it("says answers and questions in plain words", () => {
  const of = { run: RUN };
  const ended = event(2, "run.finished", { outcome: "done", answer: "## Done\n\n**Two** files in `a/`." }, of);
  expect(effectsOf(ended, here)[0]).toMatchObject({ text: "Done Two files in a/." });
  const question = { id: "q", text: "Which: `a` or *b*?" } as never;
  const asked = event(3, "question.asked", { question }, of);
  expect(effectsOf(asked, here)[0]).toMatchObject({ text: "Which: a or b?" });
});

it("opens what a run made because it was asked for", () => {
  const ended = (more: object) =>
    event(2, "run.finished", { outcome: "done", answer: "See it.", ...more }, { run: RUN });
  const shown = (more: object) => effectsOf(ended(more), here).find((e) => e.kind === "showMade");
  expect(shown({ document: "d2" })).toEqual({ kind: "showMade", run: RUN, subject: "document:d2" });
  expect(shown({ file: "artifacts/a.md" })).toEqual({ kind: "showMade", run: RUN, subject: "artifacts/a.md" });
  expect(shown({})).toBeUndefined();
});

it("offers the way back to a text only where one is typed in the window that was closed", () => {
  const closed = event(3, "window.closed", { window: WINDOW });
  expect(effectsOf(closed, here)).toEqual([{ kind: "offerWindow", app: "code", subject: "a.txt", name: "a.txt" }]);
  expect(effectsOf(closed, { ...here, unsaved: new Map() })).toEqual([]);
  expect(effectsOf(closed, { ...here, windows: [] })).toEqual([]);
});

it("reads the theme in force when its file is written, and no other file's", () => {
  const written = (path: string) => effectsOf(event(4, "file.written", { files: [file(path)] } as never), here);
  expect(written("choiros/themes/own.json")).toEqual([{ kind: "readTheme" }]);
  expect(written("choiros/themes/other.json")).toEqual([]);
});

it("says what was read and may be another now", () => {
  const repo = event(5, "repo.added", { name: "a", files: 1, bytes: 1 });
  const closed = event(6, "window.closed", { window: WINDOW });
  expect(staleAfter([closed])).toEqual([]);
  expect(staleAfter([closed, repo])).toEqual(["repos"]);
  const rewound = event(7, "timeline.rewound", {} as never);
  expect(staleAfter([rewound])).toEqual(["files", "documents"]);
  expect(effectsOf(rewound, here)).toEqual([{ kind: "readDesktop", seq: 7 }]);
});
