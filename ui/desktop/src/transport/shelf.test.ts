import { expect, it } from "vitest";
import { type Held, readHeld } from "./shelf";

const held: Held = {
  app: "code",
  subject: "a b",
  text: "typed",
  base: "1",
  known: { revision: 3, text: "known", base: "1" },
  origin: "file",
};

it("reads what was put there", () => {
  const { origin: _, ...bare } = held;
  expect(readHeld(JSON.stringify(held))).toEqual(held);
  expect(readHeld(JSON.stringify(bare))).toEqual(bare);
});

it.each(["", "null", "1", "{", "{}", JSON.stringify({ ...held, text: 1 }), JSON.stringify({ ...held, known: null })])(
  "makes nothing of %s",
  (raw) => expect(readHeld(raw)).toBeUndefined(),
);
