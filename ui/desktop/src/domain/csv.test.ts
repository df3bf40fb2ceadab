import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCSV } from "./csv";

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
