import type { ThemeChanged } from "#base/domain/contracts.ts";
import {
  CONTRAST_TOKEN,
  type Contrast,
  readContrast,
  readScheme,
  SCHEME_TOKEN,
  type Scheme,
} from "#base/domain/scheme.ts";
import { cssTrouble } from "./css";

/** A theme as it lies in choiros/themes. */
export interface Theme {
  name: string;
  title: { en: string; de: string };
  scheme: Scheme;
  /** "standard" when it says nothing. */
  contrast?: Contrast;
  tokens: Record<string, string>;
}

const files = import.meta.glob<{ default: Theme }>("../../themes/*.json", { eager: true });

/** The shipped themes; the first is the default. */
export const shipped: readonly Theme[] = Object.values(files)
  .map((f) => f.default)
  .sort((a, b) => order(a.name) - order(b.name));

/** The place of a theme among the shipped ones; those of the workspace come after them. */
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

/** A theme as the log keeps it: its name, and the values that differ from the shipped theme of that name. */
export function changeTo(theme: Theme): ThemeChanged {
  const base = shipped.find((s) => s.name === theme.name);
  const own = Object.entries(theme.tokens).filter(([name, value]) => base?.tokens[name] !== value);
  const tokens = own.map(([name, value]) => ({ name, value }));
  if (theme.scheme !== (base?.scheme ?? "light dark")) tokens.unshift({ name: SCHEME_TOKEN, value: theme.scheme });
  const contrast = theme.contrast ?? "standard";
  if (contrast !== (base?.contrast ?? "standard")) tokens.unshift({ name: CONTRAST_TOKEN, value: contrast });
  return { name: theme.name, ...(tokens.length > 0 ? { tokens } : {}) };
}

/** The values in force: those of the shipped theme, then those that differ. Unsafe ones are left out. */
export function tokensOf(change: ThemeChanged | undefined): Map<string, string> {
  const base = shipped.find((s) => s.name === change?.name)?.tokens ?? {};
  const tokens = new Map(Object.entries(base));
  for (const { name, value } of change?.tokens ?? []) if (!spoken.has(name)) tokens.set(name, value);
  for (const [name, value] of tokens) if (!nameFits(name) || cssTrouble(value)) tokens.delete(name);
  return tokens;
}

/** Tokens that are no values of CSS. */
const spoken: ReadonlySet<string> = new Set([SCHEME_TOKEN, CONTRAST_TOKEN]);

const nameFits = (name: string) => /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name);

/** A file as a theme; says what is wrong with one that is none. */
export function readTheme(text: string): { theme: Theme } | { trouble: string } {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return { trouble: "json" };
  }
  const { name, title, scheme, contrast, tokens } = (raw ?? {}) as Partial<Theme>;
  if (typeof name !== "string" || !/^[a-z][a-z0-9-]{0,99}$/.test(name)) return { trouble: "name" };
  if (!tokens || typeof tokens !== "object") return { trouble: "tokens" };
  for (const [token, value] of Object.entries(tokens)) {
    if (!nameFits(token) || typeof value !== "string" || cssTrouble(value)) return { trouble: token };
  }
  const called = typeof title?.en === "string" ? title : { en: name, de: name };
  const read: Theme = { name, title: called, scheme: readScheme(scheme) ?? "light dark", tokens };
  return { theme: readContrast(contrast) === "more" ? { ...read, contrast: "more" } : read };
}

/** The direction of writing a setting names. */
export function isRTL(dir: string): boolean {
  return dir === "rtl";
}

/** Themes in the order in which they are offered, which does not depend on where their files were found. */
export function inOrder<T extends { theme: Theme }>(themes: readonly T[]): T[] {
  return [...themes].sort(
    (a, b) => order(a.theme.name) - order(b.theme.name) || (a.theme.name < b.theme.name ? -1 : 1),
  );
}
