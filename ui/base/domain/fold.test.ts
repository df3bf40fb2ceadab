import { describe, expect, it } from "vitest";
import type { Event } from "./contracts";
import { startFold, take } from "./fold";
import { event } from "./testing";

const at = (seq: number): Event => event(seq, "session.ended", { reason: "test" });

/** Hands numbers to a fold in lumps and gives the order in which they come out. */
function order(cursor: number, lumps: number[][]): number[] {
  let fold = startFold(cursor);
  return lumps.flatMap((lump) => {
    const folded = take(fold, lump.map(at));
    fold = folded.fold;
    return folded.ready.map((e) => e.seq);
  });
}

describe("take", () => {
  it("hands on what is next", () => expect(order(0, [[1, 2], [3]])).toEqual([1, 2, 3]));
  it("drops what was handed on before", () => expect(order(2, [[1, 2, 3], [3]])).toEqual([3]));
  it("lets what is early wait", () => expect(order(0, [[3], [2], [1]])).toEqual([1, 2, 3]));
  it("says that something is missing", () => {
    const { gap, ready } = take(startFold(4), [at(6)]);
    expect({ gap, ready }).toEqual({ gap: true, ready: [] });
  });
  it("gives every order of arrival as 1 to 6, each once", () => {
    for (let seed = 1; seed < 200; seed++) {
      const shuffled = [1, 2, 3, 4, 5, 6, 2, 5].sort((a, b) => ((a * seed * 7919) % 13) - ((b * seed * 7919) % 13));
      expect(
        order(
          0,
          shuffled.map((n) => [n]),
        ),
      ).toEqual([1, 2, 3, 4, 5, 6]);
    }
  });
});
