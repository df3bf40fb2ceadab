import { expect, it } from "vitest";
import { RUN } from "#base/domain/testing.ts";
import { pathOf, type Route, readComputer, readRoute } from "./route";

const routes: Route[] = [
  { page: "desktop" },
  { page: "runs" },
  { page: "recover" },
  { page: "models", section: "models" },
  { page: "models", section: "keys" },
  { page: "models", section: "limits" },
  { page: "login" },
  { page: "time" },
  { page: "time", seq: 42 },
  { page: "time", seq: 42, back: true },
  { page: "run", run: RUN },
  { page: "run", run: RUN, undo: true },
];

it.each(routes)("reads the address it wrote: %o", (route) => expect(readRoute(pathOf(route))).toEqual(route));

it.each([
  "/time/0",
  "/time/x",
  "/time/1/2",
  "/runs/1",
  `/runs/${RUN}/redo`,
  "/settings/keys",
  "/models/secrets",
  "/else",
])("is at the desktop for %s", (path) => expect(readRoute(path)).toEqual({ page: "desktop" }));

it.each([
  ["/plain", "/runs"],
  ["/settings", "/models"],
  ["/settings/models", "/models"],
  ["/settings/secrets", "/models/keys"],
  ["/settings/limits", "/models/limits"],
])("leads from the address of before, %s, to %s", (before, now) => expect(pathOf(readRoute(before))).toBe(now));

it("knows which computer an address names", () => {
  expect(readComputer("")).toBeUndefined();
  expect(readComputer("?computer=abc")).toBe("abc");
});
