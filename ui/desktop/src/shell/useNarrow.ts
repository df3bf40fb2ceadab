import { useWidth } from "#base/kit/useWidth.ts";

/** The page is so narrow that one app is seen at a time. */
export function useNarrow(): boolean {
  return useWidth(900);
}
