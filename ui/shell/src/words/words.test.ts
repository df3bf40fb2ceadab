import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { speak, spoken } from "#base/domain/language.ts";
import { literalsIn } from "#base/domain/literals.ts";
import type { Text } from "#base/domain/words.ts";
import { de } from "./de";
import { en } from "./en";
import { late } from "./en/late";
import { openText, t } from "./late";
import { speakIn } from "./words";

type Catalogue = Record<string, Record<string, Text>>;

const [english, german] = [en, de] as [Catalogue, Catalogue];
const keys = Object.entries(english).flatMap(([part, texts]) => Object.keys(texts).map((key) => `${part}.${key}`));

/** Words that German has from English, or that are names; and what is only holes. */
const same = new Set(
  ["Computer", "Director", "Associate", "Name", "Launcher", "Enter", "Esc", "Text", "Region", "Git", "Details"].concat([
    "{title}. {remedy}",
    " · {usd}",
    "{width} × {height} at {x}, {y}",
  ]),
);

const textOf = (catalogue: Catalogue, key: string): Text => {
  const [part = "", name = ""] = key.split(".");
  return catalogue[part]?.[name] ?? "";
};

function filesIn(folder: string, ending: RegExp): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((e) => {
    const path = join(folder, e.name);
    if (e.isDirectory()) return filesIn(path, ending);
    return ending.test(e.name) && !e.name.includes(".test.") ? [path] : [];
  });
}

const folder = new URL("..", import.meta.url).pathname;

afterEach(() => speak("en"));

describe("the catalogue of the shell", () => {
  it("is complete, and German differs from English", () => {
    const keysOf = (c: Catalogue) =>
      Object.entries(c)
        .map(([part, texts]) => [part, ...Object.keys(texts).sort()])
        .sort();
    expect(keysOf(german)).toEqual(keysOf(english));
    const untranslated = keys.filter((key) => {
      const [a, b] = [textOf(english, key), textOf(german, key)];
      return JSON.stringify(a) === JSON.stringify(b) && !(typeof a === "string" && same.has(a));
    });
    expect(untranslated).toEqual([]);
  });

  it("calls undoing by one name", () => {
    expect(JSON.stringify([english, german]).match(/(take|took|taken)( \w+)? back|rückgängig/gi)).toBeNull();
  });

  it("puts in the same values in each language", () => {
    const holes = (text: Text) =>
      [...new Set(JSON.stringify(text).match(/\{\w+\}/g))].filter((h) => h !== "{n}").sort();
    for (const key of keys) expect([key, holes(textOf(german, key))]).toEqual([key, holes(textOf(english, key))]);
  });

  it("has no text that no page says", () => {
    const sources = filesIn(folder, /\.tsx?$/)
      .filter((path) => !path.includes("/src/words/"))
      .map((path) => readFileSync(path, "utf8"))
      .join("\n");
    const byName = /^(limits|gaps)\./; // see below
    expect(keys.filter((key) => !byName.test(key) && !sources.includes(`"${key}"`))).toEqual([]);
  });

  it("names the gaps of a sandbox as the command line does", () => {
    for (const [language, { gaps }] of Object.entries({ en, de })) {
      const path = `${folder}/../../../cmd/choir/sentences.${language}.json`;
      const sentences = Object.entries(JSON.parse(readFileSync(path, "utf8")));
      const lacks = sentences.filter(([key]) => key.startsWith("told.lacks"));
      expect(gaps).toEqual(Object.fromEntries(lacks.map(([key, text]) => [key.replace("told.", ""), text])));
    }
  });

  it("has a text for each limit of the configuration, and for nothing else", () => {
    const config = readFileSync(`${folder}/../../../internal/config/config.go`, "utf8");
    const [, fields = ""] = config.match(/^type Limits struct \{\n(.*?)^\}/ms) ?? [];
    const names = [...fields.matchAll(/toml:"(\w+)"/g)].map(([, name]) => name);
    expect(Object.keys(late.limits).sort()).toEqual(names.sort());
  });
});

it("only modules that import from late.ts say texts that come late", () => {
  const coming = new RegExp(`"(?:${Object.keys(late).join("|")})\\.(\\w+)"`, "g");
  for (const path of filesIn(folder, /\.tsx?$/).filter((p) => !p.includes("/src/words/"))) {
    const source = readFileSync(path, "utf8");
    const said = [...source.matchAll(coming)].map(([text]) => text.slice(1, -1)).filter((key) => keys.includes(key));
    if (said.length > 0) expect([path, said, source.includes('/words/late"')]).toEqual([path, said, true]);
  }
});

it("no page says words that are in no catalogue", () => {
  // Examples of what is typed.
  const allowed = new Set(["http://127.0.0.1:11434/v1", "us-east-1"]);
  for (const root of [folder, join(folder, "../base/kit")]) {
    for (const path of filesIn(root, /\.tsx$/)) {
      const found = literalsIn(path, readFileSync(path, "utf8")).filter((text) => !allowed.has(text));
      expect([path, found]).toEqual([path, []]);
    }
  }
});

it("speaks English at first, and German once its texts are here", async () => {
  expect(t("page.filesChanged", { n: 1200 })).toBe("1,200 files changed");
  await speakIn("de");
  expect(spoken()).toBe("de");
  expect(t("page.filesChanged", { n: 1 })).toBe("1 Datei geändert");
  expect(t("page.filesChanged", { n: 1200 })).toBe("1.200 Dateien geändert");
  expect(openText("time.lookingAt")).toContain("{when}");
});

it("speaks the language that was wanted last", async () => {
  const first = speakIn("de");
  await speakIn("en");
  await first;
  expect(spoken()).toBe("en");
});
