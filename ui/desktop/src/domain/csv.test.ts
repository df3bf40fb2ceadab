import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodingOf, readCSV, Sheet } from "./csv";

describe("comma-separated values", () => {
  it("read back what was written, quotes, separators and lines in cells included", () => {
    const cells = fc.string().map((s) => s.replaceAll("\r", ""));
    fc.assert(
      fc.property(fc.array(fc.array(cells, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 5 }), (rows) => {
        const text = rows.map((r) => r.map((c) => `"${c.replaceAll('"', '""')}"`).join(",")).join("\n");
        expect(readCSV(`${text}\n`)).toEqual(rows);
      }),
    );
  });

  it("finds the separator", () => {
    expect(readCSV("a;b\n1,5;2\n")).toEqual([
      ["a", "b"],
      ["1,5", "2"],
    ]);
    expect(readCSV("a\tb\r\n1\t2")).toEqual([
      ["a", "b"],
      ["1", "2"],
    ]);
    expect(readCSV("")).toEqual([]);
  });
});

describe("a sheet", () => {
  const sheetOf = (pieces: readonly string[], most = 1000) => {
    const sheet = new Sheet(most);
    for (const piece of pieces) sheet.add(piece);
    return sheet;
  };
  const all = (sheet: Sheet) => Array.from({ length: sheet.rows }, (_, n) => sheet.row(n));

  it("has the rows that reading it whole gives, in whatever pieces it comes", () => {
    const signs = fc.constantFrom('"', ",", "\n", "\r", "\r\n", "a", "ü", "🎉", '""');
    const texts = fc.array(signs, { maxLength: 60 }).map((s) => `${s.join("")}x`);
    fc.assert(
      fc.property(texts, fc.array(fc.nat(60), { maxLength: 6 }), (text, cuts) => {
        // The first piece decides about the separator.
        const places = [0, ...cuts.map((c) => Math.min(c + 1, text.length)), text.length].sort((a, b) => a - b);
        const pieces = places.slice(1).map((to, i) => text.slice(places[i], to));
        const sheet = sheetOf([",,,,\n", ...pieces]);
        expect(all(sheet)).toEqual(readCSV(`,,,,\n${text}`));
      }),
      { numRuns: 500 },
    );
  });

  it("takes so many rows and says that there were more", () => {
    expect(sheetOf(["a\nb\nc\n"], 3)).toMatchObject({ rows: 3, full: false });
    const cut = sheetOf(["a\nb\n", "c\nd"], 3);
    expect(cut).toMatchObject({ rows: 3, full: true });
    expect(all(cut)).toEqual([["a"], ["b"], ["c"]]);
    expect(cut.row(3)).toEqual([]);
  });

  it("is empty without text", () => expect(sheetOf([])).toMatchObject({ rows: 0, full: false }));

  it("knows its encoding by the first bytes", () => {
    expect(encodingOf(new TextEncoder().encode("größe"))).toBe("utf-8");
    expect(encodingOf(new TextEncoder().encode("größe").slice(0, 4))).toBe("utf-8");
    expect(encodingOf(Uint8Array.of(0x67, 0x72, 0xf6, 0xdf, 0x65))).toBe("windows-1252");
    expect(encodingOf(Uint8Array.of(0xff, 0xfe, 0x61, 0))).toBe("utf-16le");
    expect(encodingOf(new Uint8Array())).toBe("utf-8");
  });
});
