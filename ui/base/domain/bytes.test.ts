import { expect, it } from "vitest";
import { bytes } from "./bytes.ts";

it.each([
  [0, "0 B"],
  [535, "535 B"],
  [1000, "1 kB"],
  [12_345, "12.3 kB"],
  [999_949, "999.9 kB"],
  [999_950, "1 MB"],
  [4_100_000, "4.1 MB"],
  [2_000_000_000, "2 GB"],
])("writes a number, a space and a unit: %s", (n, words) => {
  expect(bytes(n, "en")).toBe(words);
});

it("writes them as the language does", () => {
  expect(bytes(12_345, "de")).toBe("12,3 kB");
});
