import fc from "fast-check";
import { expect, it } from "vitest";
import { merged, spliceOf } from "./splice";

const text = fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 12 });

it("makes one text of another, whatever they are", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const splice = spliceOf(before, after);
      expect(splice ? before.slice(0, splice.from) + splice.insert + before.slice(splice.to) : before).toBe(after);
    }),
  );
});

it("merges what lies apart, and nothing else", () => {
  expect(merged("one two three", "ONE two three", "one two THREE")).toBe("ONE two THREE");
  expect(merged("one two three", "one two THREE", "ONE two three")).toBe("ONE two THREE");
  expect(merged("one", "one mine", "one theirs")).toBeUndefined();
  expect(merged("one", "one", "two")).toBe("two");
  expect(merged("one", "two", "one")).toBe("two");
  expect(merged("one", "two", "two")).toBe("two");
});

it("keeps both changes whole when it merges, in either order", () => {
  fc.assert(
    fc.property(text, text, text, (base, mine, theirs) => {
      const both = merged(base, mine, theirs);
      expect(merged(base, theirs, mine)).toBe(both);
      if (both === undefined) return;
      for (const side of [mine, theirs]) {
        const insert = spliceOf(base, side)?.insert ?? "";
        expect(both).toContain(insert);
      }
    }),
  );
});
