import type { Time } from "#base/domain/contracts.ts";
import { MINUTE_MS, minutes } from "#base/domain/span.ts";

/** How long ago, in the fewest words. */
export function ago(time: Time, now: number): string {
  const s = Math.max(0, Math.round((now - Date.parse(time)) / 1000));
  if (s < 10) return "just now";
  if (s < 60) return `${s} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ago`;
  return new Date(time).toLocaleDateString(undefined, { day: "numeric", month: "short" });
}

/** Clock time with seconds. */
export function clock(time: Time): string {
  return new Date(time).toLocaleTimeString(undefined, { hour12: false });
}

/** When something was: the clock time, with the day unless it was today. */
export function whenWords(time: Time, now: number): string {
  const at = new Date(time);
  if (at.toDateString() === new Date(now).toDateString()) return clock(time);
  const day = at.toLocaleDateString(undefined, { day: "numeric", month: "short" });
  return `${day}, ${at.toLocaleTimeString(undefined, { hour12: false, hour: "2-digit", minute: "2-digit" })}`;
}

/** A number of bytes: 950 B, 12.3 kB, 4.1 MB. */
export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  if (n < 1e6) return `${(n / 1e3).toFixed(n < 1e4 ? 1 : 0)} kB`;
  return n < 1e9 ? `${(n / 1e6).toFixed(1)} MB` : `${(n / 1e9).toFixed(1)} GB`;
}

/** A span in words: 340 ms, 2.1 s, 4 min 10 s. */
export function span(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${(ms / 1000).toFixed(1)} s`;
  return minutes(ms);
}

/** A large number, shortened: 950, 12.3k. */
export function short(n: number): string {
  return n < 1000 ? String(n) : `${(n / 1000).toFixed(n < 10_000 ? 1 : 0)}k`;
}
