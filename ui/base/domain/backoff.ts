const FIRST_MS = 500;
const LONGEST_MS = 8000;

/** How long the first connection may take before the user is asked, in milliseconds. */
export const PATIENCE_MS = 8000;

/**
 * Milliseconds to wait before attempt number `attempt` (from 0): 500 doubling
 * to 8,000, less up to a quarter, so that many clients do not come at once.
 * `chance` is in [0, 1).
 */
export function backoff(attempt: number, chance: number): number {
  const whole = Math.min(FIRST_MS * 2 ** Math.min(attempt, 10), LONGEST_MS);
  return Math.round(whole * (1 - chance / 4));
}
