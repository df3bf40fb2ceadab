import fc from "fast-check";
import { expect, it } from "vitest";
import {
  arrived,
  choose,
  failed,
  isUnsaved,
  type Kept,
  maySave,
  refusedBy,
  restored,
  savedAs,
  sending,
  type Writing,
  writingOf,
  wrote,
} from "./writing";

const kept = (version: number, content: string): Kept => ({ version, content, by: "director" });

it("follows versions until something is typed", () => {
  const w = arrived(writingOf(kept(1, "one")), kept(2, "two"));
  expect(w).toEqual(writingOf(kept(2, "two")));
  const typing = wrote(w, "two and mine");
  const offered = arrived(typing, kept(3, "three"));
  expect(offered).toMatchObject({ text: "two and mine", base: kept(2, "two"), theirs: kept(3, "three"), stale: false });
  expect(maySave(offered)).toBe(false);
});

it("takes a refused save for done where the newest version has the text: the answer to the first did not come", () => {
  const w = refusedBy(sending(wrote(writingOf(kept(1, "one")), "mine")), kept(2, "mine"));
  expect(w).toMatchObject({ base: kept(2, "mine"), theirs: undefined, saving: false });
  expect(isUnsaved(w)).toBe(false);
});

it("puts mine on top of theirs, or takes theirs", () => {
  const w = arrived(wrote(writingOf(kept(1, "one")), "mine"), kept(2, "two"));
  expect(choose(w, "mine")).toMatchObject({ text: "mine", base: kept(2, "two"), theirs: undefined });
  expect(maySave(choose(w, "mine"))).toBe(true);
  expect(choose(w, "theirs")).toEqual(writingOf(kept(2, "two")));
});

it("keeps what was typed while a save was on its way, and when it did not arrive", () => {
  const w = wrote(sending(wrote(writingOf(kept(1, "one")), "mine")), "mine, longer");
  expect(isUnsaved(savedAs(w, kept(2, "mine")))).toBe(true);
  expect(failed(w, true)).toMatchObject({ text: "mine, longer", away: true, saving: false });
  expect(refusedBy(w, kept(2, "other"))).toMatchObject({ text: "mine, longer", stale: true, theirs: kept(2, "other") });
});

it("goes on with what was typed before it was left, and offers a version that came meanwhile", () => {
  const newest = kept(2, "two");
  expect(restored(newest, "two", 1)).toEqual(writingOf(newest));
  expect(maySave(restored(newest, "mine", 2))).toBe(true);
  const offered = restored(newest, "mine", 1);
  expect(offered).toMatchObject({ text: "mine", theirs: newest, stale: true });
  expect(maySave(offered)).toBe(false);
  expect(maySave(choose(offered, "mine"))).toBe(true);
});

/** Everything that can happen to a text, without the person deciding for theirs. */
const happening = fc.oneof(
  fc.record({ does: fc.constant("arrives" as const), version: fc.nat(9), content: fc.string() }),
  fc.record({ does: fc.constant("saved" as const), version: fc.nat(9), content: fc.string() }),
  fc.record({ does: fc.constant("refused" as const), version: fc.nat(9), content: fc.string() }),
  fc.record({ does: fc.constant("failed" as const), version: fc.nat(9), content: fc.string() }),
  fc.record({ does: fc.constant("mine" as const), version: fc.nat(9), content: fc.string() }),
  fc.record({ does: fc.constant("sending" as const), version: fc.nat(9), content: fc.string() }),
);

it("never touches what was typed, whatever happens", () => {
  fc.assert(
    fc.property(fc.string(), fc.array(happening), (typed, all) => {
      let w: Writing = wrote(writingOf(kept(0, "before")), typed);
      for (const h of all) {
        const version = kept(h.version, h.content);
        if (h.does === "arrives") w = arrived(w, version);
        else if (h.does === "saved") w = savedAs(w, version);
        else if (h.does === "refused") w = refusedBy(w, version);
        else if (h.does === "failed") w = failed(w, true);
        else if (h.does === "sending") w = sending(w);
        else w = choose(w, "mine");
        expect(w.text).toBe(typed);
      }
    }),
  );
});
