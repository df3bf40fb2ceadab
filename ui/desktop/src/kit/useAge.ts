import { useSyncExternalStore } from "react";
import type { Time } from "#base/domain/contracts.ts";
import { ticker } from "#base/kit/ticker.ts";
import { ago } from "../domain/time";
import { useStore } from "../state/store";

/** The time, told anew at each tick while the page is seen. */
export function useNow(): number {
  return useSyncExternalStore(ticker.subscribe, ticker.now);
}

/** How long ago something was, in words that move on; empty for nothing. */
export function useAge(at: Time | undefined): string {
  const language = useStore((s) => s.language);
  return useSyncExternalStore(ticker.subscribe, () => (at === undefined ? "" : ago(at, ticker.now(), language)));
}
