import { describe, expect, it } from "vitest";
import { dockOf } from "./dock";

const apps = [{ id: "files" }, { id: "viewer", hidden: true }, { id: "code" }];
const ids = (open: string[]) => dockOf(apps, open).map(({ id }) => id);

describe("the dock", () => {
  it("has every app that is not hidden, in the order of the registry", () => {
    expect(ids([])).toEqual(["files", "code"]);
  });

  it("has an app that only opens things while it has a window", () => {
    expect(ids(["viewer", "viewer"])).toEqual(["files", "viewer", "code"]);
  });

  it("has the windows of an app that is gone, once", () => {
    expect(dockOf(apps, ["mine", "mine"]).at(-1)).toEqual({ id: "mine" });
    expect(ids(["mine", "mine"])).toHaveLength(3);
  });
});
