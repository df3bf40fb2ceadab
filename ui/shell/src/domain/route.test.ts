import { expect, it } from "vitest";
import { RUN } from "#base/domain/testing.ts";
import { pathOf, type Route, readComputer, readRoute } from "./route";

const routes: Route[] = [
  { page: "desktop" },
  { page: "home" },
  { page: "recover" },
  { page: "settings", section: "models" },
  { page: "settings", section: "secrets" },
  { page: "settings", section: "limits" },
  { page: "login" },
  { page: "time" },
  { page: "time", seq: 42 },
  { page: "run", run: RUN },
];

it.each(routes)("reads the address it wrote: %o", (route) => expect(readRoute(pathOf(route))).toEqual(route));

it.each(["/time/0", "/time/x", "/time/1/2", "/runs/1", "/settings/keys", "/else"])("is at the desktop for %s", (path) =>
  expect(readRoute(path)).toEqual({ page: "desktop" }),
);

it("begins the settings with the models", () =>
  expect(readRoute("/settings")).toEqual({ page: "settings", section: "models" }));

it("knows which computer an address names", () => {
  expect(readComputer("")).toBeUndefined();
  expect(readComputer("?computer=abc")).toBe("abc");
});
