import { Ticker } from "../domain/ticker";

/** The ticker of the page. */
export const ticker = new Ticker({
  now: () => Date.now(),
  isSeen: () => document.visibilityState === "visible",
  every(ms, then) {
    const timer = setInterval(then, ms);
    return () => clearInterval(timer);
  },
  onSeen(then) {
    document.addEventListener("visibilitychange", then);
    return () => document.removeEventListener("visibilitychange", then);
  },
});
