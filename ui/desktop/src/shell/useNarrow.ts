import { useSyncExternalStore } from "react";

/** The page is so narrow that one app is seen at a time. */
export function useNarrow(): boolean {
  return useWidth(900);
}

/** The page is as narrow as a phone that stands upright. */
export function usePhone(): boolean {
  return useWidth(560);
}

function useWidth(most: number): boolean {
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
