import { expect, it } from "vitest";
import type { Event } from "#base/domain/contracts.ts";
import { appOf } from "../apps/registry";
import { appIdOf } from "./appid";
import { knownFrom, learn, reduceWindows, type Win } from "./windows";

const bounds = { x: 0, y: 0, width: 400, height: 300 };
const win: Win = { id: "w", app: "browser", bounds, state: "normal", focused_seq: 1 };

it("an app is found by the id it had before", () => {
  expect(appOf("browser")).toBe(appOf("preview"));
  expect(appOf("preview")?.title.en).toBe("Preview");
  expect([appIdOf("files"), appIdOf("constructor")]).toEqual(["files", "constructor"]);
});

it("a window of an older log is one of the app as it is called now, however it is heard of", () => {
  const opened = { type: "window.opened", seq: 1, payload: { window: "w", app: "browser", bounds } } as Event;
  const told = [knownFrom([win], 1), learn(new Map(), "w", win, 1), reduceWindows(new Map(), opened)];
  for (const known of told) expect(known.get("w")?.win?.app).toBe("preview");
});
