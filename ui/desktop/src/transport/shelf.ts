import { past } from "./address";

/** A text that could not be sent, with what it takes to send it once more. */
export interface Held {
  app: string;
  subject: string;
  text: string;
  base: string;
  /** What the server had when the text was typed; of revision 0 when that was none. */
  known: { revision: number; text: string; base: string };
  /** What is saved, of which the text was made. */
  origin?: string;
}

/** Where texts lie that the computer has not got. */
export interface Shelf {
  all(): Held[];
  put(held: Held): void;
  remove(app: string, subject: string): void;
}

const PREFIX = "choir draft ";
const keyOf = (app: string, subject: string) => `${PREFIX}${app} ${subject}`;

/** The shelf in a storage of the browser. A text for which there is no room stays in the page alone, as does all where there is no storage. */
export function shelfIn(storage: () => Storage): Shelf {
  const attempt = <T>(act: (there: Storage) => T, or: T): T => {
    try {
      return act(storage());
    } catch {
      return or;
    }
  };
  return {
    all: () =>
      attempt(
        (there) =>
          Object.keys(there)
            .filter((key) => key.startsWith(PREFIX))
            .flatMap((key) => readHeld(there.getItem(key)) ?? []),
        [],
      ),
    put: (held) => attempt((there) => there.setItem(keyOf(held.app, held.subject), JSON.stringify(held)), undefined),
    remove: (app, subject) => attempt((there) => there.removeItem(keyOf(app, subject)), undefined),
  };
}

/** Reads what `put` wrote; undefined for anything else. */
function readHeld(raw: string | null): Held | undefined {
  const held = JSON.parse(raw ?? "null") as Partial<Held> | null;
  if (typeof held?.text !== "string" || typeof held.base !== "string") return undefined;
  if (typeof held.app !== "string" || typeof held.subject !== "string") return undefined;
  if (held.origin !== undefined && typeof held.origin !== "string") return undefined;
  const { known } = held;
  const isKnown = typeof known?.text === "string" && typeof known.base === "string" && known.revision >= 0;
  return isKnown ? (held as Held) : undefined;
}

/**
 * The shelf of this tab, in the storage of the desktop's own origin: a reload finds it, another tab and another origin
 * do not, and it is gone with the tab. A page of the past has typed nothing.
 */
export const shelf: Shelf = past
  ? { all: () => [], put: () => undefined, remove: () => undefined }
  : shelfIn(() => sessionStorage);
