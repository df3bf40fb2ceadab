/** The beginning of a name that is being typed in a list. */
export interface Ahead {
  text: string;
  /** When its last letter came, in milliseconds. */
  at: number;
}

/** Nothing is being typed. */
export const noAhead: Ahead = { text: "", at: Number.NEGATIVE_INFINITY };

/** Milliseconds after a letter within which the next one belongs to it. */
const TOGETHER_MS = 1000;

/** A key press, as far as typing ahead looks at it. */
type Press = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">;

/**
 * Adds a key to the beginning of a name. A space belongs to the letters just before it.
 * Returns undefined for a key that types nothing here, such as a space by itself.
 */
export function typedAhead(now: Ahead, { key, ctrlKey, metaKey, altKey }: Press, at: number): Ahead | undefined {
  if ([...key].length !== 1 || ctrlKey || metaKey || altKey) return undefined;
  const text = at - now.at > TOGETHER_MS ? "" : now.text;
  if (key === " " && text === "") return undefined;
  return { text: text + key.toLowerCase(), at };
}

/** The place of the first name that begins so, or -1. */
export function placeAhead({ text }: Ahead, names: readonly string[]): number {
  return names.findIndex((name) => name.toLowerCase().startsWith(text));
}
