import { expect, it } from "vitest";
import { readDiff } from "./diff";
import { compareLines, compareText } from "./lines";

it("says what was added and removed around what is alike", () => {
  expect(compareLines(["a", "b", "c", "d"], ["a", "x", "c", "d", "e"]).map(([mark, line]) => mark + line)).toEqual([
    " a",
    "-b",
    "+x",
    " c",
    " d",
    "+e",
  ]);
});

it("gives back both sides, whatever they are", () => {
  let seed = 7;
  const next = (n: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % n;
  };
  for (let round = 0; round < 200; round++) {
    const [a, b] = [0, 1].map(() => Array.from({ length: next(12) }, () => "xyz".charAt(next(3)))) as [
      string[],
      string[],
    ];
    const steps = compareLines(a, b);
    expect(steps.filter(([m]) => m !== "+").map(([, l]) => l)).toEqual(a);
    expect(steps.filter(([m]) => m !== "-").map(([, l]) => l)).toEqual(b);
  }
});

it("writes a diff that can be read", () => {
  const [file] = readDiff(compareText("doc", "one\ntwo\n", "one\nthree\n"));
  expect(file).toMatchObject({ path: "doc", added: 1, removed: 1 });
  expect(compareText("doc", "same", "same")).toBe("");
  expect(readDiff(compareText("doc", "", "new\n"))[0]).toMatchObject({ added: 1, removed: 0 });
});
