import { describe, expect, it } from "vitest";
import { shownAs } from "./pixels";

describe("a picture", () => {
  it("is shown whole up to 50 megapixels", () => {
    expect(shownAs({ width: 10_000, height: 5_000 })).toBe("whole");
    expect(shownAs({ width: 0, height: 0 })).toBe("whole");
  });

  it("of 100 megapixels is shown as a smaller one of the same shape", () => {
    expect(shownAs({ width: 10_000, height: 10_000 })).toEqual({ width: 4096, height: 4096 });
    expect(shownAs({ width: 20_000, height: 5_000 })).toEqual({ width: 4096, height: 1024 });
    expect(shownAs({ width: 65_000, height: 1_000 })).toEqual({ width: 4096, height: 63 });
  });

  it("beyond 400 megapixels is not read at all", () => {
    expect(shownAs({ width: 30_000, height: 30_000 })).toBe("never");
  });
});
