import { useWidth } from "#base/kit/useWidth.ts";
import { NARROW } from "../domain/wmplace";

/** The page is so narrow that one app is seen at a time. */
export function useNarrow(): boolean {
  return useWidth(NARROW);
}
