import { useSyncExternalStore } from "react";

/** The page is as narrow as a phone that stands upright. */
export function usePhone(): boolean {
  return useWidth(560);
}

/** The page has at most so many pixels across. */
export function useWidth(most: number): boolean {
  return useMedia(`(max-width: ${most}px)`);
}

/** The person has no pointer that rests on things, and so hardly a keyboard. */
export function useTouch(): boolean {
  return useMedia("(hover: none)");
}

function useMedia(wanted: string): boolean {
  const query = () => matchMedia(wanted);
  return useSyncExternalStore(
    (changed) => {
      const media = query();
      media.addEventListener("change", changed);
      return () => media.removeEventListener("change", changed);
    },
    () => query().matches,
  );
}
