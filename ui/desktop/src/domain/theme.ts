import type { ThemeChanged } from "#base/domain/contracts.ts";
import { cssTrouble } from "./css";

/** A theme as it lies in choiros/themes. */
export interface Theme {
  name: string;
  title: { en: string; de: string };
  /** "light", "dark", or "light dark" to follow the system. */
  scheme: "light" | "dark" | "light dark";
  tokens: Record<string, string>;
}

const files = import.meta.glob<{ default: Theme }>("../../themes/*.json", { eager: true });

/** The shipped themes; the first is the default. */
export const shipped: readonly Theme[] = Object.values(files)
  .map((f) => f.default)
  .sort((a, b) => order(a.name) - order(b.name));

function order(name: string): number {
  const at = ["system", "light", "dark", "high-contrast", "kintsugi"].indexOf(name);
  return at < 0 ? 99 : at;
}

/** The theme before one was chosen. */
export const defaultTheme = shipped[0]?.name ?? "system";

/** Whether two themes look the same; none is the default as it was shipped. */
export function sameTheme(a: ThemeChanged, b: ThemeChanged | undefined): boolean {
  const text = ({ name, tokens = [] }: ThemeChanged) =>
    JSON.stringify([name, tokens.map((t) => [t.name, t.value]).sort()]);
  return text(a) === text(b ?? { name: defaultTheme });
}

/** The token a theme gives its scheme in, on its way through the log. */
const SCHEME = "color-scheme";

/** A theme as the log keeps it: its name, and the values that differ from the shipped theme of that name. */
export function changeTo(theme: Theme): ThemeChanged {
  const base = shipped.find((s) => s.name === theme.name);
  const own = Object.entries(theme.tokens).filter(([name, value]) => base?.tokens[name] !== value);
  const tokens = own.map(([name, value]) => ({ name, value }));
  if (theme.scheme !== (base?.scheme ?? "light dark")) tokens.unshift({ name: SCHEME, value: theme.scheme });
  return { name: theme.name, ...(tokens.length > 0 ? { tokens } : {}) };
}

/** The values in force: those of the shipped theme, then those that differ. Unsafe ones are left out. */
export function tokensOf(change: ThemeChanged | undefined): Map<string, string> {
  const base = shipped.find((s) => s.name === change?.name)?.tokens ?? {};
  const tokens = new Map(Object.entries(base));
  for (const { name, value } of change?.tokens ?? []) if (name !== SCHEME) tokens.set(name, value);
  for (const [name, value] of tokens) if (!nameFits(name) || cssTrouble(value)) tokens.delete(name);
  return tokens;
}

/** The scheme in force. */
export function schemeOf(change: ThemeChanged | undefined): Theme["scheme"] {
  const said = change?.tokens?.find((t) => t.name === SCHEME)?.value;
  return schemes.find((s) => s === said) ?? shipped.find((s) => s.name === change?.name)?.scheme ?? "light dark";
}

const schemes = ["light", "dark", "light dark"] as const;

const nameFits = (name: string) => /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name);

/** A file as a theme; says what is wrong with one that is none. */
export function readTheme(text: string): { theme: Theme } | { trouble: string } {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return { trouble: "json" };
  }
  const { name, title, scheme, tokens } = (raw ?? {}) as Partial<Theme>;
  if (typeof name !== "string" || !/^[a-z][a-z0-9-]{0,99}$/.test(name)) return { trouble: "name" };
  if (!tokens || typeof tokens !== "object") return { trouble: "tokens" };
  for (const [token, value] of Object.entries(tokens)) {
    if (!nameFits(token) || typeof value !== "string" || cssTrouble(value)) return { trouble: token };
  }
  const called = typeof title?.en === "string" ? title : { en: name, de: name };
  return { theme: { name, title: called, scheme: schemes.find((s) => s === scheme) ?? "light dark", tokens } };
}

/** The direction of writing a setting names. */
export function isRTL(dir: string): boolean {
  return dir === "rtl";
}
