import { expect, it } from "vitest";
import type { State } from "../state/store";
import { actionFor, search } from "./registry";

const press = { key: ".", ctrlKey: true, metaKey: false, shiftKey: false, altKey: false };
const run = "01900000-0000-7000-8000-00000000000a";
const state = (over: object) =>
  ({ route: { page: "run", run }, runs: [{ id: run, state: "running" }], ...over }) as unknown as State;

it("stops the run that is shown while it works", () => {
  expect(actionFor(press, state({}))?.id).toBe("run.stop");
  expect(actionFor({ ...press, ctrlKey: false, metaKey: true }, state({}))?.id).toBe("run.stop");
});

it("does nothing when there is nothing to stop", () => {
  expect(actionFor(press, state({ runs: [{ id: run, state: "done" }] }))).toBeUndefined();
  expect(actionFor({ ...press, ctrlKey: false }, state({}))).toBeUndefined();
  expect(actionFor({ ...press, shiftKey: true }, state({}))).toBeUndefined();
});

it("finds by all words, beginnings first", () => {
  const titles = ["Stop this run", "Make a checkpoint", "A stop that is late"].map((title) => ({ title }));
  expect(search(titles, "stop").map((t) => t.title)).toEqual(["Stop this run", "A stop that is late"]);
  expect(search(titles, "late stop")).toHaveLength(1);
  expect(search(titles, "")).toHaveLength(3);
});
