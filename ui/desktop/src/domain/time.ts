import type { Time } from "#base/domain/contracts.ts";
import { MINUTE_MS, minutes } from "#base/domain/span.ts";

/** How long ago, in the fewest words of a language. */
export function ago(time: Time | number, now: number, language: string): string {
  const at = typeof time === "number" ? time : Date.parse(time);
  const s = Math.max(0, Math.round((now - at) / 1000));
  const words = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "narrow" });
  if (s < 60) return words.format(-s, "second");
  if (s < 3600) return words.format(-Math.floor(s / 60), "minute");
  if (s < 86_400) return words.format(-Math.floor(s / 3600), "hour");
  return new Date(at).toLocaleDateString(language, { day: "numeric", month: "short", year: "numeric" });
}

/** The time of day, with the date when that is not today. */
export function clock(time: Time, now: number, language: string): string {
  const at = new Date(time);
  const today = at.toDateString() === new Date(now).toDateString();
  const day: Intl.DateTimeFormatOptions = today ? {} : { day: "numeric", month: "short" };
  return at.toLocaleString(language, { hour: "2-digit", minute: "2-digit", ...day });
}

/** A span in the shortest words: 340 ms, 2.1 s, 4 min 10 s. */
export function span(ms: number, language: string): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${(ms / 1000).toLocaleString(language, { maximumFractionDigits: 1 })} s`;
  return minutes(ms);
}
