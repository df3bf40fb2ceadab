/** What of a key press a chord looks at. */
export interface Press {
  key: string;
  code: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  /** The key that types the third sign of a key; it is no Ctrl+Alt. */
  altGraph?: boolean;
}

/** A press is the chord written as "Ctrl+Alt+Left"; Ctrl is Cmd on a Mac. */
export function isChord(press: Press, chord: string): boolean {
  const parts = chord.split("+");
  const key = parts.at(-1) ?? "";
  const has = (name: string) => parts.includes(name);
  if (press.altGraph) return false;
  if (has("Ctrl") !== (press.ctrlKey || press.metaKey)) return false;
  if (has("Alt") !== press.altKey || has("Shift") !== press.shiftKey) return false;
  return nameOf(press, has("Alt")) === key;
}

// With Alt a Mac types other signs, so there the place of the key counts.
function nameOf({ key, code }: Press, alt: boolean): string {
  if (key.startsWith("Arrow")) return key.slice(5);
  const place = /^(?:Key|Digit)(.)$/.exec(code)?.[1];
  if (alt && place) return place;
  return key.length === 1 ? key.toUpperCase() : key;
}

/** A chord as it is written on the keys of a Mac or another machine. */
export function written(chord: string, mac: boolean): string {
  const arrows: Record<string, string> = { Left: "←", Right: "→", Up: "↑", Down: "↓" };
  const named = (chord === "+" ? [chord] : chord.split("+")).map((part) => arrows[part] ?? part);
  if (!mac) return named.join(" ");
  const signs: Record<string, string> = { Ctrl: "⌘", Alt: "⌥", Shift: "⇧", Enter: "↩" };
  return named.map((part) => signs[part] ?? part).join(" ");
}
