import { type KeyboardEvent, useRef } from "react";
import { noAhead, placeAhead, typedAhead } from "../domain/typeahead";

/** What a list does with the keys that are pressed in it. */
interface TypeAhead {
  /** Says whether the press was typing: then it neither opens the entry nor reaches what is around the list. */
  press(e: KeyboardEvent): boolean;
  /** Firefox presses a button when the space is let go, whatever became of its press. */
  release(e: KeyboardEvent): void;
}

/** Goes to the entry of a list whose name begins as is typed. */
export function useTypeAhead(names: () => readonly string[], go: (place: number) => void): TypeAhead {
  const typed = useRef(noAhead);
  const typing = useRef(false);
  return {
    press: (e) => {
      const now = typedAhead(typed.current, e, e.timeStamp);
      typing.current = now !== undefined;
      if (!now) return false;
      typed.current = now;
      const found = placeAhead(now, names());
      if (found >= 0) go(found);
      // A button would be pressed by the space.
      e.preventDefault();
      return true;
    },
    release: (e) => e.key === " " && typing.current && e.preventDefault(),
  };
}
