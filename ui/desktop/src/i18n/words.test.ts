import { describe, expect, it } from "vitest";
import { apps } from "../apps/registry";
import { languageOf } from "../domain/language";
import { shipped } from "../domain/theme";
import { deskWords } from "./desk";
import { say, type Words } from "./words";

const modules = import.meta.glob<{ words: Words<string> }>("../{apps/*,kit}/i18n.ts", { eager: true });
const all: [string, Words<string>][] = [
  ["desk", deskWords],
  ...Object.entries(modules).map(([path, m]): [string, Words<string>] => [path.split("/").at(-2) ?? "", m.words]),
];

/** Words that German has from English, or that are names. */
const same = new Set([
  "Computer",
  "Code",
  "Writer",
  "Terminal",
  "Director",
  "Associate",
  "Markdown",
  "JSONL",
  "Enter",
  "{path}",
  "OK",
  "DOCX",
  "HTML",
  "PDF",
  "Version {n}",
  "Link",
  "Terminals",
  "Name",
]);

describe.each(all)("the words of %s", (_, words) => {
  const keys = Object.keys(words.en);

  it("are complete, and German ones differ from English", () => {
    expect(Object.keys(words.de).sort()).toEqual([...keys].sort());
    const untranslated = keys.filter((key) => {
      const [en, de] = [words.en[key], words.de[key]];
      return JSON.stringify(en) === JSON.stringify(de) && !(typeof en === "string" && same.has(en));
    });
    expect(untranslated).toEqual([]);
  });

  it("call undoing by one name", () => {
    expect(JSON.stringify(words).match(/(take|took|taken)( \w+)? back|rückgängig/gi)).toBeNull();
  });

  it("put in the same values in each language", () => {
    const holes = (text: unknown) =>
      [...new Set([...JSON.stringify(text).matchAll(/\{(\w+)\}/g)].map((m) => m[1]))].filter((h) => h !== "n").sort();
    for (const key of keys) expect([key, holes(words.de[key])]).toEqual([key, holes(words.en[key])]);
  });
});

it("apps, keys and themes have a name in each language", () => {
  const named = [
    ...apps.map((a) => a.title),
    ...apps.flatMap((a) => a.keys.map((k) => k.does)),
    ...shipped.map((s) => s.title),
  ];
  expect(named.filter((n) => n.en === n.de && !same.has(n.en))).toEqual([]);
});

it("chooses by number and writes numbers as the language does", () => {
  const words = {
    en: { n: { one: "{n} file", other: "{n} files" } },
    de: { n: { one: "{n} Datei", other: "{n} Dateien" } },
  };
  expect(say(words, "en", "n", { n: 1 })).toBe("1 file");
  expect(say(words, "en", "n", { n: 1200 })).toBe("1,200 files");
  expect(say(words, "de", "n", { n: 1200 })).toBe("1.200 Dateien");
});

it("follows the setting, then the browser, then English", () => {
  expect(languageOf("de", ["en"])).toBe("de");
  expect(languageOf("", ["fr", "de-AT"])).toBe("de");
  expect(languageOf("", ["fr"])).toBe("en");
});
