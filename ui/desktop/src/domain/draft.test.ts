import { describe, expect, it } from "vitest";
import { conflicted, decided, draftOf, found, isDirty, restored, saved, toKeep, typed } from "./draft";

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

  it("takes a refused save for done where the file has the text: the answer to the first did not come", () => {
    const draft = conflicted({ ...typed(draftOf(one), "mine"), saving: true }, { text: "mine", digest: "3" });
    expect(draft).toMatchObject({ base: { digest: "3" }, theirs: undefined, saving: false });
    expect(isDirty(draft)).toBe(false);
  });

  it("shows the other side of a refused save", () => {
    expect(conflicted({ ...typed(draftOf(one), "mine"), saving: true }, two)).toMatchObject({
      theirs: two,
      saving: false,
      text: "mine",
    });
  });

  it("goes on with what was typed before, and says when the file is another one now", () => {
    expect(restored(one, "mine", "1")).toEqual(typed(draftOf(one), "mine"));
    expect(restored(one, "one", "0"), "it was saved after all").toEqual(draftOf(one));
    const other = restored(two, "mine", "1");
    expect(other).toMatchObject({ text: "mine", theirs: two });
    expect(isDirty(other)).toBe(true);
    expect(found(other, one), "the file is what it was again").toEqual(typed(draftOf(one), "mine"));
    expect(decided(other, "mine")).toMatchObject({ text: "mine", base: two, theirs: undefined });
    expect(isDirty(restored(two, "", "1")), "an emptied text is one too").toBe(true);
  });

  it("keeps both texts when two browsers typed in the same place", () => {
    const clash = conflicted(typed(draftOf(one), "mine"), { text: "yours", digest: "1", unsaved: true });
    expect(found(clash, { text: "three", digest: "3" }).theirs?.text).toBe("yours");
    expect(decided(clash, "theirs")).toEqual(typed(draftOf(one), "yours"));
    expect(decided(clash, "mine")).toEqual(typed(draftOf(one), "mine"));
  });

  it("is sent when it was typed here, not when the server told of it", () => {
    const heard = { ...restored(one, "typed elsewhere", "1"), heard: "typed elsewhere" };
    expect(toKeep(heard)).toBe(undefined);
    expect(toKeep(typed(heard, "and here")), "typed on").toEqual({ text: "and here", base: "1" });
    expect(toKeep(typed(typed(heard, "and here"), "typed elsewhere")), "taken back by hand").toEqual({
      text: "typed elsewhere",
      base: "1",
    });
    expect(toKeep(draftOf(one)), "nothing to save").toBe(null);
  });
});
