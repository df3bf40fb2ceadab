import { useEffect, useState } from "react";
import { MINUTE_MS } from "#base/domain/span.ts";

/** The time, told anew each minute while the page is seen: for words such as "2 min ago". */
export function useMinute(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const tick = () => document.visibilityState === "visible" && setNow(Date.now());
    const timer = setInterval(tick, MINUTE_MS);
    document.addEventListener("visibilitychange", tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", tick);
    };
  }, []);
  return now;
}
