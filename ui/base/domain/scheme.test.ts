import { describe, expect, it } from "vitest";
import { contrastOf, schemeOf } from "./scheme";

describe("the scheme of a theme", () => {
  it("is the one it says, before that of the shipped theme of its name", () => {
    expect(schemeOf({ name: "dark", tokens: [{ name: "color-scheme", value: "light" }] })).toBe("light");
    expect(schemeOf({ name: "mine", tokens: [{ name: "color-scheme", value: "dark" }] })).toBe("dark");
  });

  it("follows the system when nobody knows better", () => {
    expect(schemeOf(undefined)).toBe("light dark");
    expect(schemeOf({ name: "mine" })).toBe("light dark");
    expect(schemeOf({ name: "constructor" })).toBe("light dark");
    expect(schemeOf({ name: "mine", tokens: [{ name: "color-scheme", value: "none" }] })).toBe("light dark");
  });
});

it("knows the contrast that a theme says, before that of the shipped theme of its name", () => {
  const says = (name: string, value: string) => contrastOf({ name, tokens: [{ name: "contrast", value }] });
  expect(contrastOf(undefined)).toBe("standard");
  expect(contrastOf({ name: "dark" })).toBe("standard");
  expect(contrastOf({ name: "high-contrast" })).toBe("more");
  expect(says("high-contrast", "standard")).toBe("standard");
  expect(says("mine", "more")).toBe("more");
  expect(says("mine", "url(x)")).toBe("standard");
});
