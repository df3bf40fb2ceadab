import { describe, expect, it } from "vitest";
import { contrastOf, schemeOf } from "#base/domain/scheme.ts";
import { cssTrouble } from "./css";
import { changeTo, inOrder, readTheme, sameTheme, shipped, tokensOf } from "./theme";

describe("themes", () => {
  it("ships light, dark, high contrast and kintsugi, each of safe values only", () => {
    expect(shipped.map((t) => t.name)).toEqual(["system", "light", "dark", "high-contrast", "kintsugi"]);
    for (const theme of shipped) {
      expect(readTheme(JSON.stringify(theme))).toEqual({ theme });
      expect(tokensOf({ name: theme.name }).size).toBe(Object.keys(theme.tokens).length);
    }
  });

  it("have the scheme that base, and so the shell, knows of them", () => {
    for (const { name, scheme } of shipped) expect(schemeOf({ name }), name).toBe(scheme);
  });

  it("have the contrast that base knows of them, and say another in the log", () => {
    for (const theme of shipped) expect(contrastOf(changeTo(theme)), theme.name).toBe(theme.contrast ?? "standard");
    const own = { name: "own", title: { en: "Own", de: "Eigen" }, scheme: "light dark", tokens: {} } as const;
    const said = changeTo({ ...own, contrast: "more" });
    expect(said).toEqual({ name: "own", tokens: [{ name: "contrast", value: "more" }] });
    expect([...tokensOf(said)]).toEqual([]);
    expect(readTheme(JSON.stringify({ ...own, contrast: "more" }))).toEqual({ theme: { ...own, contrast: "more" } });
    expect(readTheme(JSON.stringify({ ...own, contrast: "very" }))).toEqual({ theme: own });
    const softer = shipped.filter((t) => t.contrast).map((t) => changeTo({ ...t, contrast: "standard" }));
    expect(softer.map(contrastOf)).toEqual(["standard"]);
  });

  it("are offered in one order, wherever their files lie", () => {
    const own = { name: "aurora", title: { en: "Aurora", de: "Aurora" }, scheme: "dark" as const, tokens: {} };
    const found = [own, ...shipped].map((theme) => ({ theme })).reverse();
    const names = inOrder(found).map(({ theme }) => theme.name);
    expect(names).toEqual(["system", "light", "dark", "high-contrast", "kintsugi", "aurora"]);
  });

  it("look the same whatever the order of their values, and none is the default", () => {
    const a = { name: "a", value: "1" };
    const b = { name: "b", value: "2" };
    expect(sameTheme({ name: "x", tokens: [a, b] }, { name: "x", tokens: [b, a] })).toBe(true);
    expect(sameTheme({ name: "x", tokens: [a] }, { name: "x", tokens: [b] })).toBe(false);
    expect(sameTheme({ name: "system" }, undefined)).toBe(true);
    expect(sameTheme({ name: "dark" }, undefined)).toBe(false);
  });

  it.each([
    ["url(http://evil.example/x)", "characters"],
    ["url(x)", "function"],
    ["URL(x)", "function"],
    ["image-set(x)", "function"],
    ["red; background: blue", "characters"],
    ["red } body { color: red", "characters"],
    ["expression(alert)", "function"],
    ["red /* x */", "comment"],
    ["rgb(1 2 3", "unbalanced"],
    ["'open", "unbalanced"],
    ["</style>", "characters"],
    ["\\75rl(x)", "characters"],
    ["", "length"],
    ["a".repeat(201), "length"],
  ])("refuses %s", (value, why) => expect(cssTrouble(value)).toBe(why));

  it.each([
    "#fff",
    "rgb(1 2 3 / 40%)",
    "calc(100% - (2px + 1px))",
    "var(--ink)",
    "'a (b'",
    "repeating-linear-gradient(45deg, red 0 2px, blue 4px)",
  ])("takes %s", (value) => expect(cssTrouble(value)).toBeUndefined());

  it("leaves unsafe values of the log out and keeps the others", () => {
    const tokens = tokensOf({
      name: "mine",
      tokens: [
        { name: "ink", value: "#123456" },
        { name: "desk", value: "url(x)" },
      ],
    });
    expect([...tokens]).toEqual([["ink", "#123456"]]);
  });

  it("carries its scheme through the log", () => {
    const read = readTheme('{"name":"mine","scheme":"dark","tokens":{"ink":"#fff"}}');
    if (!("theme" in read)) throw new Error(read.trouble);
    const change = changeTo(read.theme);
    expect(schemeOf(change)).toBe("dark");
    expect([...tokensOf(change)]).toEqual([["ink", "#fff"]]);
    expect(schemeOf(undefined)).toBe("light dark");
    expect(schemeOf({ name: "dark" })).toBe("dark");
  });

  it("says what is wrong with a file that is no theme", () => {
    expect(readTheme("{")).toEqual({ trouble: "json" });
    expect(readTheme('{"name":"A b"}')).toEqual({ trouble: "name" });
    expect(readTheme('{"name":"a"}')).toEqual({ trouble: "tokens" });
    expect(readTheme('{"name":"a","tokens":{"ink":"url(x)"}}')).toEqual({ trouble: "ink" });
  });
});
