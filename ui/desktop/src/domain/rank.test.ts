import { expect, it } from "vitest";
import { ranked, rankOf } from "./rank";

it.each([
  ["tea", "tea", 0],
  ["tea.md", "TEA", 1],
  ["workspace/green-tea.md", "tea", 2],
  ["New document", "new doc", 1],
  ["A document that is new", "new doc", 2],
  ["steam", "tea", 3],
  ["Terminal", "tea", undefined],
  ["Settings", "tea", undefined],
  ["Änderung über Nacht", "nacht", 2],
])("%s fits %s: %s", (text, typed, rank) => expect(rankOf(text, typed)).toBe(rank));

it("gives the best first, and those that fit alike as they came", () => {
  const entries = ["Steam", "Terminal", "green tea", "tea.md", "Teapot", "tea"].map((text) => ({ texts: [text] }));
  const shown = (typed: string) => ranked(entries, typed).map(({ texts }) => texts[0]);
  expect(shown("tea")).toEqual(["tea", "tea.md", "Teapot", "green tea", "Steam"]);
  expect(shown(" ")).toHaveLength(entries.length);
});
