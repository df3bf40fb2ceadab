import { expect, it } from "vitest";
import type { Event } from "#base/domain/contracts.ts";
import { event, RUN } from "#base/domain/testing.ts";
import { effectsOf } from "./heard";

const kinds = (e: Event, desktopAnswers = false) => effectsOf(e, desktopAnswers).map((effect) => effect.kind);

it("says what becomes of a run where no desktop does, and leaves it to the desktop else", () => {
  const finished = event(1, "run.finished", { outcome: "done", answer: "Yes" }, { run: RUN });
  const toast = event(2, "toast.shown", { text: "Hello", signature: "" }, { run: RUN });
  expect(kinds(finished)).toEqual(["announce"]);
  expect(effectsOf(toast, false)).toEqual([{ kind: "showAnswer", text: "Hello" }]);
  expect([kinds(finished, true), kinds(toast, true)]).toEqual([[], []]);
});

it("follows the look of the desktop, and reads it anew after a rewind, which may have changed its source too", () => {
  const theme = event(3, "theme.changed", { name: "dark" });
  expect(effectsOf(theme, true)).toEqual([{ kind: "wear", theme: { name: "dark" } }]);
  expect(kinds(event(4, "timeline.rewound", {} as never), true)).toEqual(["touchSource", "readLook"]);
});

it("reads anew what an event is about", () => {
  expect(kinds(event(5, "repo.added", { name: "a", files: 1, bytes: 1 }))).toEqual(["readRepos"]);
  const started = event(6, "sandbox.started", { role: "director", driver: "local", level: "local" });
  expect(kinds(started)).toEqual(["readComputer"]);
  const refused = event(8, "egress.refused", { host: "a.test", policy: "allowlist", asked: true });
  expect(kinds(refused)).toEqual(["readComputer"]);
  expect(kinds(event(9, "egress.passed", {} as never))).toEqual([]);
  expect(kinds(event(7, "window.closed", { window: "w" }))).toEqual([]);
});

it("speaks the language of the setting, and no other setting's value", () => {
  const set = (key: string, value?: string) => event(5, "setting.changed", { key, ...(value ? { value } : {}) });
  expect(effectsOf(set("language", "de"), true)).toEqual([{ kind: "speak", setting: "de" }]);
  expect(effectsOf(set("language"), true)).toEqual([{ kind: "speak", setting: "" }]);
  expect(effectsOf(set("motion", "de"), true)).toEqual([]);
});
