import { expect, it } from "vitest";
import type { Event } from "#base/domain/contracts.ts";
import { byFate, outdated, touchesSource } from "./source";

const event = (type: string, payload: object) => ({ type, payload }) as unknown as Event;

it.each([
  ["file.written", { files: [{ path: "a" }, { path: "choiros/src/a.ts" }] }, true],
  ["file.written", { files: [{ path: "workspace/choiros/a" }, { path: "choiros.txt" }] }, false],
  ["file.removed", { paths: ["choiros/index.html"] }, true],
  ["file.removed", { paths: ["x"] }, false],
  ["timeline.rewound", {}, true],
  ["window.moved", {}, false],
] as const)("%s of %o: %s", (type, payload, touches) => expect(touchesSource(event(type, payload))).toBe(touches));

it("wants another page only when the source comes from elsewhere", () => {
  expect(outdated(undefined, { mode: "live" })).toBe(false);
  expect(outdated({ mode: "shipped" }, { mode: "broken" })).toBe(false);
  expect(outdated({ mode: "shipped" }, { mode: "live" })).toBe(true);
  expect(outdated({ mode: "live" }, { mode: "live", error: "x" })).toBe(false);
  expect(outdated({ mode: "live" }, { mode: "shipped" })).toBe(true);
});

it("tells what conflicts first, and nothing of what does not happen", () => {
  const told = byFate([
    { path: "a", fate: "kept" },
    { path: "b", fate: "updated" },
    { path: "c", fate: "conflict" },
    { path: "d", fate: "updated" },
  ]);
  expect(told.map((t) => [t.fate, t.paths])).toEqual([
    ["conflict", ["c"]],
    ["updated", ["b", "d"]],
    ["kept", ["a"]],
  ]);
});
