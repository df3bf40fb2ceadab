import { PATIENCE_MS } from "../domain/backoff";
import type { Settings } from "../domain/settings";
import { ask } from "./http";

/** What is set outside of a computer; given up when it takes longer than people wait. */
export function readSettings(): Promise<Settings> {
  return ask("/api/settings", { signal: AbortSignal.timeout(PATIENCE_MS) });
}
