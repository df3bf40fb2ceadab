import { describe, expect, it } from "vitest";
import type { FileState } from "#base/domain/contracts.ts";
import { asPart, extensionOf, folderOf, freeName, join, nameOf, nameTrouble, sorted, trailOf } from "./path";
import { choose, kept, nothing } from "./selection";

const file = (path: string, over: object = {}): FileState =>
  ({ path, kind: "file", mode: 0o644, size: 1, mtime_ms: 1, ...over }) as FileState;

describe("paths", () => {
  it("come apart and together again", () => {
    expect(nameOf("a/b%25.md")).toBe("b%.md");
    expect(asPart("100%")).toBe("100%25");
    expect(folderOf("a/b/c")).toBe("a/b");
    expect(folderOf("a")).toBe("");
    expect(join("", "a")).toBe("a");
    expect(trailOf("a/b")).toEqual(["", "a", "a/b"]);
    expect(extensionOf("x/.bashrc")).toBe("");
    expect(extensionOf("x.TAR.GZ")).toBe("gz");
  });

  it("refuse names that would lead elsewhere", () => {
    expect(nameTrouble("..")).toBe("dots");
    expect(nameTrouble("a/b")).toBe("slash");
    expect(nameTrouble(" ")).toBe("empty");
    expect(nameTrouble("..a")).toBeUndefined();
  });

  it("find a name that is free", () => {
    expect(freeName("a.md", new Set(["a.md", "a 2.md"]))).toBe("a 3.md");
    expect(freeName("a", new Set(["b"]))).toBe("a");
  });

  it("sort folders first, numbers as numbers", () => {
    const files = [file("b10"), file("b9"), file("z", { kind: "dir" }), file("a", { size: 9 })];
    expect(sorted(files, "name", false, "en").map((f) => f.path)).toEqual(["z", "a", "b9", "b10"]);
    expect(sorted(files, "name", true, "en").map((f) => f.path)).toEqual(["z", "b10", "b9", "a"]);
    expect(sorted(files, "size", true, "en")[1]?.path).toBe("a");
  });
});

describe("a selection", () => {
  const ids = ["a", "b", "c", "d"];
  it("is one, several, or a range", () => {
    let s = choose(ids, nothing, 1, "only");
    s = choose(ids, s, 3, "range");
    expect([...s.chosen]).toEqual(["b", "c", "d"]);
    s = choose(ids, s, 2, "toggle");
    expect([...s.chosen]).toEqual(["b", "d"]);
    s = choose(ids, s, 99, "walk");
    expect(s.at).toBe(3);
    expect([...s.chosen]).toEqual(["b", "d"]);
  });

  it("outlives a list that changed", () => {
    const s = choose(ids, choose(ids, nothing, 1, "only"), 3, "toggle");
    expect(kept(["d", "e"], s)).toEqual({ at: 1, from: 1, chosen: new Set(["d"]) });
  });
});
