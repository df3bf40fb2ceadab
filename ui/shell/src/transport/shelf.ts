import type { ID } from "#base/domain/contracts.ts";

/** How much of one computer is held: so many texts, and so many characters of them and their names. */
const MOST = 64;
const ROOM = 1_000_000;

const prefixOf = (computer: ID | "") => `choir held ${computer}`;

/** Where the texts lie that a computer did not get. */
export interface Shelf {
  /** Holds a text of the desktop of a computer; "" holds it no longer. What has no room is not held. */
  hold(computer: ID, name: string, text: string): void;
  /** The texts of a computer's desktop. */
  of(computer: ID): string[];
  /** Holds nothing any more. */
  forget(): void;
}

/** Holds texts in a storage of the browser; nothing where there is none. */
export function shelfIn(storage: () => Storage): Shelf {
  const attempt = <T>(act: (there: Storage) => T, or: T): T => {
    try {
      return act(storage());
    } catch {
      return or;
    }
  };
  const keys = (there: Storage, computer: ID | "") =>
    Object.keys(there).filter((key) => key.startsWith(prefixOf(computer)));
  return {
    hold: (computer, name, text) =>
      attempt((there) => {
        const key = `${prefixOf(computer)} ${name}`;
        there.removeItem(key);
        if (!text) return;
        const others = keys(there, computer);
        const size = others.reduce((sum, k) => sum + k.length + (there.getItem(k)?.length ?? 0), 0);
        if (others.length < MOST && size + key.length + text.length <= ROOM) there.setItem(key, text);
      }, undefined),
    of: (computer) =>
      attempt((there) => keys(there, computer).map((key) => there.getItem(key) ?? ""), []).filter(
        (text) => text !== "",
      ),
    forget: () =>
      attempt((there) => {
        for (const key of keys(there, "")) there.removeItem(key);
      }, undefined),
  };
}

/**
 * What the desktops typed and their computers did not get, in this tab: a browser may give a frame of another origin no
 * storage, so the page around it holds the texts. They are the desktop's words, read by nobody here, and told to the
 * desktop of the same computer alone; a reload finds them, another tab does not, and the logout forgets them.
 */
export const shelf = shelfIn(() => sessionStorage);
