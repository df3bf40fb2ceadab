import { useSyncExternalStore } from "react";

const query = () => matchMedia("(max-width: 900px)");

/** The page is so narrow that one app is seen at a time. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    (changed) => {
      const media = query();
      media.addEventListener("change", changed);
      return () => media.removeEventListener("change", changed);
    },
    () => query().matches,
  );
}
