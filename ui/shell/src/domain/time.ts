import { bytes as bytesIn } from "#base/domain/bytes.ts";
import type { Time } from "#base/domain/contracts.ts";
import { spoken } from "#base/domain/language.ts";
import { MINUTE_MS, minutes } from "#base/domain/span.ts";
import { t } from "../words/words";

/** How long ago, in the fewest words. */
export function ago(time: Time, now: number): string {
  const s = Math.max(0, Math.round((now - Date.parse(time)) / 1000));
  if (s < 10) return t("page.justNow");
  if (s < 60) return t("page.secondsAgo", { n: s });
  if (s < 3600) return t("page.minutesAgo", { n: Math.floor(s / 60) });
  if (s < 86_400) return t("page.hoursAgo", { n: Math.floor(s / 3600) });
  return new Date(time).toLocaleDateString(spoken(), { day: "numeric", month: "short" });
}

/** Clock time with seconds. */
export function clock(time: Time): string {
  return new Date(time).toLocaleTimeString(spoken(), { hour12: false });
}

/** When something was: the clock time, with the day unless it was today. */
export function whenWords(time: Time, now: number): string {
  const at = new Date(time);
  if (at.toDateString() === new Date(now).toDateString()) return clock(time);
  const day = at.toLocaleDateString(spoken(), { day: "numeric", month: "short" });
  return `${day}, ${at.toLocaleTimeString(spoken(), { hour12: false, hour: "2-digit", minute: "2-digit" })}`;
}

/** A number with so many digits behind the point, as the language writes it. */
export function fixed(n: number, digits: number): string {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false };
  return n.toLocaleString(spoken(), options);
}

/** An amount of US dollars, with `least` digits behind the point and at most `most`. */
export function dollars(usd: number, least: number, most: number): string {
  const money = { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" } as const;
  return usd.toLocaleString(spoken(), { ...money, minimumFractionDigits: least, maximumFractionDigits: most });
}

/** A number of bytes: 950 B, 12.3 kB, 4.1 MB. */
export const bytes = (n: number): string => bytesIn(n, spoken());

/** A span in words: 340 ms, 2.1 s, 4 min 10 s. */
export function span(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${fixed(ms / 1000, 1)} s`;
  return minutes(ms);
}

/** A large number, shortened: 950, 12.3k. */
export function short(n: number): string {
  return n < 1000 ? String(n) : `${fixed(n / 1000, n < 10_000 ? 1 : 0)}k`;
}
