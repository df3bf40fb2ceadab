import { useSyncExternalStore } from "react";

/** The page is as narrow as a phone that stands upright. */
export function usePhone(): boolean {
  return useWidth(560);
}

/** The page has at most so many pixels across. */
export function useWidth(most: number): boolean {
  const query = () => matchMedia(`(max-width: ${most}px)`);
  return useSyncExternalStore(
    (changed) => {
      const media = query();
      media.addEventListener("change", changed);
      return () => media.removeEventListener("change", changed);
    },
    () => query().matches,
  );
}
