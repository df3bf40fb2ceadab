import { beforeEach, expect, it } from "vitest";
import { create } from "zustand";
import { event } from "#base/domain/testing.ts";
import type { Win } from "../domain/windows";
import { type WindowsSlice, windowsSlice } from "./windows";

const bounds = { x: 10, y: 20, width: 300, height: 200 };
const at = (x: number): Win => ({ id: "a", app: "files", bounds: { ...bounds, x }, state: "normal", focused_seq: 3 });
const moved = (seq: number, x: number) => event(seq, "window.moved", { window: "a", bounds: { ...bounds, x } });
const store = create<WindowsSlice>(windowsSlice);
const state = () => store.getState();
const seen = () => state().windows.map((w) => w.bounds.x);

beforeEach(() => {
  store.setState(store.getInitialState(), true);
  state().setKnown([at(10)], 3);
});

it("shows a change from before its answer until its event, and then what the events say", () => {
  state().goAhead("a", at(50));
  expect(seen()).toEqual([50]);
  state().settle("a", 8);
  expect(seen()).toEqual([50]);
  state().hearWindow(moved(7, 30)); // another browser's, before this one's
  expect(seen()).toEqual([50]);
  state().hearWindow(moved(8, 50));
  state().hearWindow(moved(9, 70));
  expect(seen()).toEqual([70]);
  expect(state().ahead.size).toBe(0);
});

it("shows the events when they come before the answer", () => {
  state().goAhead("a", at(50));
  state().hearWindow(moved(8, 50));
  state().hearWindow(moved(9, 70));
  expect(seen()).toEqual([50]);
  state().settle("a", 8);
  expect(seen()).toEqual([70]);
});

it("waits for the last of several changes, of which one was refused", () => {
  state().goAhead("a", at(50));
  state().goAhead("a", at(60));
  state().goAhead("a", at(60));
  state().settle("a", 8);
  state().letGo("a");
  state().hearWindow(moved(8, 50));
  expect(seen()).toEqual([60]);
  state().settle("a", 9);
  expect(seen()).toEqual([60]);
  state().hearWindow(moved(9, 60));
  expect(state().ahead.size).toBe(0);
});

it("goes back to what is known when nothing was different or the change was refused", () => {
  state().goAhead("a", at(50));
  state().settle("a", 0);
  expect(seen()).toEqual([10]);
  state().goAhead("a", at(50));
  state().letGo("a");
  expect(seen()).toEqual([10]);
});

it("takes the whole desktop for the events up to it, also of a window that is gone", () => {
  state().goAhead("a", at(50));
  state().settle("a", 8);
  state().setKnown([at(40)], 7);
  expect(seen()).toEqual([50]);
  state().setKnown([at(40)], 9);
  expect(seen()).toEqual([40]);
  state().goAhead("a", undefined);
  expect(seen()).toEqual([]);
  state().settle("a", 10);
  state().setKnown([], 10);
  expect(state().ahead.size).toBe(0);
});

it("keeps a closed window away from its answer on", () => {
  state().goAhead("a", undefined);
  state().settle("a", 8);
  expect(seen()).toEqual([]);
  state().hearWindow(event(8, "window.closed", { window: "a" }));
  expect(seen()).toEqual([]);
  expect(state().ahead.size).toBe(0);
});
