import { describe, expect, it } from "vitest";
import { conflicted, decided, draftOf, found, isDirty, saved, typed } from "./draft";

const one = { text: "one", digest: "1" };
const two = { text: "two", digest: "2" };

describe("a text that is being written", () => {
  it("follows the file while nothing was typed", () => {
    expect(found(draftOf(one), two)).toEqual(draftOf(two));
  });

  it("is never touched once something was typed; both sides are kept", () => {
    const draft = found(typed(draftOf(one), "mine"), two);
    expect(draft.text).toBe("mine");
    expect(draft.theirs).toEqual(two);
    expect(decided(draft, "theirs")).toEqual(draftOf(two));
    const mine = decided(draft, "mine");
    expect(mine).toMatchObject({ text: "mine", base: two, theirs: undefined });
    expect(isDirty(mine)).toBe(true);
  });

  it("keeps what is typed while it is saved", () => {
    let draft = { ...typed(draftOf(one), "mine"), saving: true };
    draft = typed(draft, "mine!");
    draft = saved(draft, { text: "mine", digest: "3" });
    expect(draft.text).toBe("mine!");
    expect(isDirty(draft)).toBe(true);
  });

  it("does not take its own save for someone else's", () => {
    const saving = { ...typed(draftOf(one), "mine"), saving: true };
    expect(found(saving, { text: "mine", digest: "3" }).theirs).toBeUndefined();
    expect(found(typed(draftOf(one), "same"), { text: "same", digest: "4" }).base.digest).toBe("4");
  });

  it("shows the other side of a refused save", () => {
    expect(conflicted({ ...typed(draftOf(one), "mine"), saving: true }, two)).toMatchObject({
      theirs: two,
      saving: false,
      text: "mine",
    });
  });
});
