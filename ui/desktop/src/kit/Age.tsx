import type { Time } from "#base/domain/contracts.ts";
import { useAge } from "./useAge";

/** How long ago something was; it is drawn anew when the words change. */
export function Age({ at }: { at: Time }) {
  return <time dateTime={at}>{useAge(at)}</time>;
}
