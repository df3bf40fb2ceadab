import { PATIENCE_MS } from "#base/domain/backoff.ts";
import { ask } from "#base/transport/http.ts";
import type { Settings } from "../domain/settings";

/** What is set outside of a computer; given up when it takes longer than people wait. */
export function readSettings(): Promise<Settings> {
  return ask("/api/settings", { signal: AbortSignal.timeout(PATIENCE_MS) });
}
