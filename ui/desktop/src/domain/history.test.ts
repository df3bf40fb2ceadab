import { describe, expect, it } from "vitest";
import { atEdge, recall } from "./history";

const draft = { at: undefined, draft: "" };

describe("the history of the prompt", () => {
  it("goes up to the oldest and down to the draft", () => {
    const up = recall(["one", "two"], draft, "thr", "up");
    expect(up).toEqual({ recall: { at: 1, draft: "thr" }, text: "two" });
    const top = recall(["one", "two"], { at: 1, draft: "thr" }, "two", "up");
    expect(top?.text).toBe("one");
    expect(recall(["one", "two"], { at: 0, draft: "thr" }, "one", "up")).toBeUndefined();
    expect(recall(["one", "two"], { at: 1, draft: "thr" }, "two", "down")).toEqual({ recall: draft, text: "thr" });
  });

  it("has nothing below the draft, and nothing when nothing was asked", () => {
    expect(recall(["one"], draft, "x", "down")).toBeUndefined();
    expect(recall([], draft, "x", "up")).toBeUndefined();
  });

  it("leaves the arrows to the lines of a longer text", () => {
    expect(atEdge("a\nb", 3, "up")).toBe(false);
    expect(atEdge("a\nb", 1, "up")).toBe(true);
    expect(atEdge("a\nb", 1, "down")).toBe(false);
    expect(atEdge("a\nb", 3, "down")).toBe(true);
  });
});
