import { useSyncExternalStore } from "react";

const query = () => matchMedia("(max-width: 560px)");

/** The page is as narrow as a phone that stands upright. */
export function usePhone(): boolean {
  return useSyncExternalStore(
    (changed) => {
      const media = query();
      media.addEventListener("change", changed);
      return () => media.removeEventListener("change", changed);
    },
    () => query().matches,
  );
}
