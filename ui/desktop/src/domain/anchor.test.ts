import fc from "fast-check";
import { expect, it } from "vitest";
import { anchorAt, anchorOf, findAnchor } from "./anchor";

it("finds the same place again when the text around it changed", () => {
  const text = "the cat and the dog and the cow";
  const anchor = anchorOf(text, 12, 15);
  expect(anchor.exact).toBe("the");
  expect(findAnchor(`new words: ${text}`, anchor)).toEqual({ from: 23, to: 26 });
  expect(findAnchor("all is gone", anchor)).toBeUndefined();
  expect(findAnchor(text, {})).toBeUndefined();
});

it("finds every part of an unchanged text where it was", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 80 }), fc.nat(), fc.nat(), (text, a, b) => {
      const from = a % text.length;
      const to = from + 1 + (b % (text.length - from));
      expect(findAnchor(text, anchorOf(text, from, to))).toEqual({ from, to });
    }),
  );
});

it("finds every place in an unchanged text, and behind the same words after some were added", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 80 }), fc.nat(), (text, n) => {
      const at = 1 + (n % text.length);
      const found = findAnchor(text, anchorAt(text, at));
      expect(found?.from).toBe(found?.to);
      expect(anchorAt(text, found?.from ?? -1)).toEqual(anchorAt(text, at));
    }),
  );
  const end = anchorAt("One. Two.", 9);
  expect(findAnchor("Zero. One. Two. Three.", end)).toEqual({ from: 15, to: 15 });
  expect(findAnchor("Other words.", end)).toBeUndefined();
});
