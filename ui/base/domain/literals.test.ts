import { expect, it } from "vitest";
import { literalsIn } from "./literals";

const at = (jsx: string) => literalsIn("part.tsx", `export const part = (a: boolean) => ${jsx};`);

it("finds words in texts, in attributes that people read, and in choices between them", () => {
  expect(at("<p>Read this</p>")).toEqual(["Read this"]);
  expect(at('<p aria-label="Read this" />')).toEqual(["Read this"]);
  expect(at('<p title={a ? "One" : `Two ${a}`} />')).toEqual(["One", "Two"]);
  expect(at('<p>{a && "One"}</p>')).toEqual(["One"]);
  expect(at("<>{a} files</>")).toEqual(["files"]);
});

it("leaves alone what is no sentence", () => {
  expect(at('<p className="big one" id="x">{a} · 3 s</p>')).toEqual([]);
  expect(at("<p><code>choir up</code> <kbd>Esc</kbd></p>")).toEqual([]);
  expect(at('<p>{t("part.key")}</p>')).toEqual([]);
  expect(at('<p title={a === "done" ? x : y} />')).toEqual([]);
});
