import type { Schema } from "#base/domain/operations.ts";
import { listed } from "#base/domain/words.ts";
import { limits as bounds } from "../words/en/limits";
import { t } from "../words/late";

/** What the owner has set outside of a computer, as it is in force. */
export type Settings = Schema<"Settings">;

/** A model and its list price, in US dollars per million tokens. */
export type KnownModel = Schema<"KnownModel">;

/** One model service. */
export type Provider = Schema<"ModelProvider">;

/** Whose model it is. */
export type Part = Provider["uses"][number];

/** Where the key of a model service is and whether it is there; never what it is. */
export type Key = Schema<"ModelKey">;

/** One limit in force. */
export type Limit = Schema<"ConfigSetting">;

const groups = [
  { title: "models.eachRun", of: /^run_/ },
  { title: "models.eachSandbox", of: /^(processes|memory_mb|cpu_milli)$/ },
  { title: "models.theComputer", of: /./ },
] as const;

/** Limits by what they bound, in the order of the file. */
export function grouped(limits: readonly Limit[]): { title: (typeof groups)[number]["title"]; limits: Limit[] }[] {
  const groupOf = (limit: Limit) => groups.find((g) => g.of.test(nameOf(limit)))?.title;
  return groups
    .map(({ title }) => ({ title, limits: limits.filter((l) => groupOf(l) === title) }))
    .filter((g) => g.limits.length > 0);
}

/** The name of a limit within its section. */
export function nameOf(limit: Limit): string {
  return limit.key.replace(/^limits\./, "");
}

/** What a limit bounds, in the language of the page; in the server's words where the page has none. */
export function boundOf(limit: Limit): string {
  const name = nameOf(limit);
  return name in bounds ? t(`limits.${name as keyof typeof bounds}`) : limit.doc;
}

/** What a provider is used for: "Director and Associate". */
export function partsOf({ uses }: Provider): string {
  return listed(uses.map((use) => t(use === "director" ? "models.director" : "models.associate")));
}
