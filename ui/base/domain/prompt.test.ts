import { describe, expect, it } from "vitest";
import { lengthOf, promptKey, room } from "./prompt";

const key = (over: object) => promptKey({ key: "Enter", shiftKey: false, isComposing: false, ...over });

describe("promptKey", () => {
  it("sends with Enter", () => expect(key({})).toBe("send"));
  it("breaks the line with Shift+Enter", () => expect(key({ shiftKey: true })).toBe("type"));
  it("clears with Escape", () => expect(key({ key: "Escape" })).toBe("clear"));
  it("leaves Enter to a word being composed", () => expect(key({ isComposing: true })).toBe("type"));
});

describe("room", () => {
  it("is quiet far from the limit", () => expect(room("hi").show).toBe(false));
  it("shows what is left near it", () =>
    expect(room("x".repeat(19_500))).toEqual({ show: true, over: false, left: 500 }));
  it("says how many are too many", () =>
    expect(room("x".repeat(20_003))).toEqual({ show: true, over: true, left: -3 }));
  it("counts characters, not code units", () => {
    expect(lengthOf("a🎼b")).toBe(3);
    expect(room("🎼".repeat(20_000)).over).toBe(false);
  });
});
