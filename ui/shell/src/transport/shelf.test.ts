import { expect, it } from "vitest";
import type { ID } from "#base/domain/contracts.ts";
import { shelfIn } from "./shelf";

const a = "01990000-0000-7000-8000-00000000000a" as ID;
const b = "01990000-0000-7000-8000-00000000000b" as ID;

/** A storage of a browser. */
function storageOf(): Storage {
  const entries: Record<string, string> = {};
  const methods = {
    getItem: (key: string) => entries[key] ?? null,
    setItem: (key: string, value: string) => {
      entries[key] = value;
    },
    removeItem: (key: string) => {
      delete entries[key];
    },
  };
  return new Proxy(methods as unknown as Storage, {
    ownKeys: () => Object.keys(entries),
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  });
}

it("gives a computer's desktop its own texts back, until they are let go", () => {
  const there = storageOf();
  const shelf = shelfIn(() => there);
  shelf.hold(a, "code x y", "one");
  shelf.hold(a, "code x y", "two");
  shelf.hold(a, "prompt ", "three");
  shelf.hold(b, "prompt ", "other");
  expect(shelfIn(() => there).of(a)).toEqual(["two", "three"]);
  shelf.hold(a, "code x y", "");
  expect([shelf.of(a), shelf.of(b)]).toEqual([["three"], ["other"]]);
  there.setItem("other", "stays");
  shelf.forget();
  expect([shelf.of(a), shelf.of(b), Object.keys(there)]).toEqual([[], [], ["other"]]);
});

it("holds no more than there is room for", () => {
  const there = storageOf();
  const shelf = shelfIn(() => there);
  for (let i = 0; i < 70; i++) shelf.hold(a, String(i), "x");
  expect(shelf.of(a)).toHaveLength(64);
  shelf.hold(b, "one", "x".repeat(600_000));
  shelf.hold(b, "two", "x".repeat(600_000));
  expect(shelf.of(b)).toHaveLength(1);
});

it("holds nothing where there is no storage", () => {
  const shelf = shelfIn(() => {
    throw new DOMException("refused", "SecurityError");
  });
  shelf.hold(a, "x", "y");
  shelf.forget();
  expect(shelf.of(a)).toEqual([]);
});
