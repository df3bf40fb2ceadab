import { expect, it } from "vitest";
import { addedLines, piecesOf, shortened, textOf } from "./text";

const bytes = (...n: number[]) => new Uint8Array(n).buffer;

it("tells text from what is not", () => {
  expect(textOf(new TextEncoder().encode("grüß\n").buffer)).toEqual({ text: "grüß\n", cut: false });
  expect(textOf(bytes(0xff, 0xfe))).toBeUndefined();
  expect(textOf(bytes(0x61, 0))).toBeUndefined();
});

it("cuts what is too long at the end of a line", () => {
  const read = textOf(new TextEncoder().encode("0123456789\n".repeat(50_000)).buffer);
  expect(read?.cut).toBe(true);
  expect(read?.text.endsWith("9")).toBe(true);
});

it("sets new lines apart and loses nothing", () => {
  const added = addedLines("--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n one\n+two\n three\n");
  expect([...added]).toEqual([2]);
  const pieces = piecesOf("one\ntwo\nthree\n", added);
  expect(pieces.map((p) => p.added)).toEqual([false, true, false]);
  expect(pieces.map((p) => p.text).join("")).toBe("one\ntwo\nthree\n");
});

it.each([
  ["count the words", 20, "count the words"],
  ["count the words of it", 20, "count the words of…"],
  ["count the words or so", 16, "count the words…"],
  ["antidisestablishmentarianism", 10, "antidises…"],
  ["first line\nsecond", 20, "first line…"],
  ["a\tb\u202ec", 20, "a b c"],
  ["\u{1F426}".repeat(9), 10, `${"\u{1F426}".repeat(4)}…`],
  ["", 5, ""],
])("shortens %j to %i characters", (text, most, short) => {
  expect(shortened(text, most)).toBe(short);
  expect(short.length).toBeLessThanOrEqual(most);
});
