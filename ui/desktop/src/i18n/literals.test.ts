import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { baseWords } from "#base/domain/basewords.ts";
import { literalsIn } from "#base/domain/literals.ts";
import type { Words } from "#base/domain/words.ts";
import { deskWords } from "./desk";

const src = new URL("..", import.meta.url).pathname;

function filesIn(folder: string, ending: RegExp): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((e) => {
    const path = join(folder, e.name);
    if (e.isDirectory()) return filesIn(path, ending);
    return ending.test(e.name) && !e.name.includes(".test.") ? [path] : [];
  });
}

/** All that says something; a key may be the name of a kind, which is no text in quotes. */
const sources = [src, join(src, "../base")]
  .flatMap((folder) => filesIn(folder, /\.tsx?$/))
  .filter((path) => !/\/i18n\/(de|en)\.ts$|\/i18n\.ts$|\/basewords\.ts$|\/names\.ts$|\/markwords\.ts$/.test(path))
  .map((path) => readFileSync(path, "utf8"))
  .join("\n");

const unsaid = (words: Words<string>) =>
  Object.keys(words.en).filter((key) => !new RegExp(`\\b${key}\\b`).test(sources));

it("no part says words that are in no catalogue", () => {
  for (const path of filesIn(src, /\.tsx$/)) {
    expect([path, literalsIn(path, readFileSync(path, "utf8"))]).toEqual([path, []]);
  }
});

it("no catalogue has a text that nothing says", () => {
  const modules = import.meta.glob<{ words: Words<string> }>("../{apps/*,kit}/i18n.ts", { eager: true });
  for (const [path, { words }] of Object.entries(modules)) expect([path, unsaid(words)]).toEqual([path, []]);
  expect([unsaid(deskWords), unsaid(baseWords)]).toEqual([[], []]);
});
