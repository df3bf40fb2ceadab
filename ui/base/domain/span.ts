/** From how many milliseconds on a span is told in minutes: less would round to a whole one. */
export const MINUTE_MS = 59_950;

/** A span in whole minutes and seconds: 4 min 10 s. */
export function minutes(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
