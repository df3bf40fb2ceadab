import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressOf, placeOf } from "./place";

describe("an address of the sandbox", () => {
  it.each([
    ["8000", { port: 8000, path: "/" }],
    [" :8000/a b ", { port: 8000, path: "/a%20b" }],
    ["localhost:3000/x?y=1#z", { port: 3000, path: "/x?y=1#z" }],
    ["http://127.0.0.1:65535", { port: 65535, path: "/" }],
    ["localhost", { port: 80, path: "/" }],
  ])("is read from %s", (typed, place) => expect(placeOf(typed)).toEqual(place));

  it.each([
    "",
    "0",
    "65536",
    "http://localhost:0/",
    "https://localhost:8000/",
    "http://example.org:8000/",
    "http://localhost.example.org/",
    "http://me@localhost:8000/",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "two words",
  ])("is not %j", (typed) => expect(placeOf(typed)).toBeUndefined());

  it("is read again as it is written", () => {
    const path = fc.string({ unit: "grapheme-ascii", maxLength: 30 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 65535 }), path, (port, path) => {
        const place = placeOf(`${port}/${path}`);
        expect(place?.port).toBe(port);
        expect(place && placeOf(addressOf(place))).toEqual(place);
      }),
      { numRuns: 1000 },
    );
  });
});
