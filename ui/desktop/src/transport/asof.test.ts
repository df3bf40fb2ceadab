import { afterEach, describe, expect, it } from "vitest";
import { computerOf, isPast } from "./address";
import { asOf, lookAt, upToThen } from "./asof";

describe("what is read of an earlier moment", () => {
  afterEach(() => lookAt(0));

  it("is read as it is now without one", () => {
    expect(asOf("/a?b=c")).toBe("/a?b=c");
    expect(upToThen([{ seq: 1 }, { seq: 9 }])).toHaveLength(2);
  });

  it("is asked for by the event", () => {
    lookAt(7);
    expect(asOf("/a")).toBe("/a?as_of=7");
    expect(asOf("/a?b=c")).toBe("/a?b=c&as_of=7");
    expect(upToThen([{ seq: 6 }, { seq: 7 }, { seq: 8 }])).toEqual([{ seq: 6 }, { seq: 7 }]);
  });

  it("has a name of its own", () => {
    expect(computerOf("past--0197.localhost:8080")).toBe("0197");
    expect(computerOf("0197.localhost:8080")).toBe("0197");
    expect([isPast("past--0197.localhost"), isPast("0197.localhost"), isPast("")]).toEqual([true, false, false]);
  });
});
