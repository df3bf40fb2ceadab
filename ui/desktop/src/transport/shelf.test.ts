import { expect, it } from "vitest";
import { type Held, shelfIn } from "./shelf";

/** A storage of a browser, which has room for so many characters. */
function storageOf(room = 10_000): Storage {
  const entries: Record<string, string> = {};
  const methods = {
    getItem: (key: string) => entries[key] ?? null,
    setItem: (key: string, value: string) => {
      if (value.length > room) throw new DOMException("full", "QuotaExceededError");
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

const held = (subject: string, text = "typed"): Held => ({
  app: "code",
  subject,
  text,
  base: "1",
  known: { revision: 3, text: "known", base: "1" },
  origin: "file",
});

it("gives back what was put there until it is removed", () => {
  const shelf = shelfIn(() => there);
  const there = storageOf();
  shelf.put(held("a b"));
  shelf.put(held("c"));
  shelf.put(held("c", "typed on"));
  expect(shelf.all()).toEqual([held("a b"), held("c", "typed on")]);
  shelf.remove("code", "a b");
  expect(shelfIn(() => there).all()).toEqual([held("c", "typed on")]);
});

it("passes over what something else wrote", () => {
  const there = storageOf();
  there.setItem("choir draft code x", '{"text": 1}');
  there.setItem("choir draft code y", "null");
  there.setItem("other", "{}");
  expect(shelfIn(() => there).all()).toEqual([]);
});

it("is empty where there is no storage, and takes nothing that has no room", () => {
  const none = shelfIn(() => {
    throw new DOMException("refused", "SecurityError");
  });
  none.put(held("a"));
  none.remove("code", "a");
  expect(none.all()).toEqual([]);
  const full = shelfIn(() => there);
  const there = storageOf(3);
  full.put(held("a"));
  expect(full.all()).toEqual([]);
});
