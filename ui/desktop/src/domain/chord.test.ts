import { describe, expect, it } from "vitest";
import { actions } from "../actions/registry";
import { isChord, written } from "./chord";

const press = (over: object) => ({
  key: "k",
  code: "KeyK",
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...over,
});

describe("chords", () => {
  it("mean Ctrl on one machine and Cmd on another", () => {
    expect(isChord(press({ ctrlKey: true }), "Ctrl+K")).toBe(true);
    expect(isChord(press({ metaKey: true }), "Ctrl+K")).toBe(true);
    expect(isChord(press({ ctrlKey: true, shiftKey: true }), "Ctrl+K")).toBe(false);
    expect(isChord(press({}), "Ctrl+K")).toBe(false);
  });

  it("go by the place of the key where Alt types other signs", () => {
    expect(isChord(press({ key: "µ", code: "KeyM", ctrlKey: true, altKey: true }), "Ctrl+Alt+M")).toBe(true);
    expect(
      isChord(press({ key: "!", code: "Digit1", ctrlKey: true, altKey: true, shiftKey: true }), "Ctrl+Alt+Shift+1"),
    ).toBe(true);
  });

  it("leave AltGr to the signs it types", () => {
    expect(isChord(press({ key: "µ", code: "KeyM", ctrlKey: true, altKey: true, altGraph: true }), "Ctrl+Alt+M")).toBe(
      false,
    );
  });

  it("are written as on the keys", () => {
    expect(written("Ctrl+Alt+Left", false)).toBe("Ctrl Alt ←");
    expect(written("Ctrl+Alt+Left", true)).toBe("⌘ ⌥ ←");
  });

  it("mean one action each", () => {
    const chords = actions.flatMap((a) => a.keys ?? []);
    expect(new Set(chords).size).toBe(chords.length);
  });
});
