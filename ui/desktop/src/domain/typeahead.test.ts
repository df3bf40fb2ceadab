import { expect, it } from "vitest";
import { type Ahead, noAhead, placeAhead, typedAhead } from "./typeahead";

const press = (key: string, held = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, ...held });

/** What stands after keys, each with its milliseconds. */
function after(...keys: [key: string, at: number][]): string | undefined {
  let now: Ahead | undefined = noAhead;
  for (const [key, at] of keys) now = typedAhead(now ?? noAhead, press(key), at);
  return now?.text;
}

it.each<[string, string | undefined, ...[string, number][]]>([
  ["letters that follow each other are one beginning", "pl", ["P", 0], ["l", 900]],
  ["a letter after a pause begins anew", "l", ["p", 0], ["l", 1001]],
  ["a space within a second of a letter belongs to it", "my ", ["m", 0], ["y", 100], [" ", 1100]],
  ["a space by itself types nothing", undefined, [" ", 5000]],
  ["a space after a pause types nothing", undefined, ["m", 0], [" ", 1001]],
  ["a key with a name types nothing", undefined, ["Enter", 0]],
  ["a letter of two code units is one letter", "😀", ["😀", 0]],
])("%s", (_, text, ...keys) => expect(after(...keys)).toBe(text));

it("leaves keys with Ctrl, Alt or Meta to shortcuts", () => {
  for (const held of ["ctrlKey", "altKey", "metaKey"])
    expect(typedAhead({ text: "a", at: 0 }, press("b", { [held]: true }), 1)).toBeUndefined();
});

it("finds the first name that begins so, in any case", () => {
  const at = (text: string) => placeAhead({ text, at: 0 }, ["Plan", "My first page", "my second"]);
  expect([at("my "), at("my s"), at("z")]).toEqual([1, 2, -1]);
});
