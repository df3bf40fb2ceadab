import { useContext, useEffect, useRef } from "react";
import type { Unsaved } from "../state/panel";
import { useStore } from "../state/store";
import { WindowContext } from "./useWindow";

/**
 * Says that the window has text that is not saved, while it has: closing it asks
 * first, and when it is closed in another browser this one says that the text is kept.
 */
export function useUnsaved(is: boolean, unsaved: Unsaved): void {
  const id = useContext(WindowContext);
  const setUnsaved = useStore((s) => s.setUnsaved);
  const newest = useRef(unsaved);
  newest.current = unsaved;
  const { name } = unsaved;
  useEffect(() => {
    if (!id || !is) return;
    setUnsaved(id, { name, save: () => newest.current.save(), discard: () => newest.current.discard() });
    return () => setUnsaved(id, undefined);
  }, [id, is, name, setUnsaved]);
}
