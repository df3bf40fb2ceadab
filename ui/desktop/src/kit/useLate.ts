import { useEffect, useState } from "react";
import { PATIENCE_MS } from "#base/domain/backoff.ts";

/** Whether a part has been drawn for longer than people wait without a word. */
export function useLate(): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return late;
}
