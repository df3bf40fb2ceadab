import type { ThemeChanged } from "./contracts";

/** Whether a page is light or dark; "light dark" follows the system's preference. */
export type Scheme = "light" | "dark" | "light dark";

/** The token by which a theme says its scheme in the log. */
export const SCHEME_TOKEN = "color-scheme";

/** The schemes of the shipped themes, for pages that do not have the themes themselves. */
const shipped: Readonly<Record<string, Scheme>> = {
  light: "light",
  dark: "dark",
  "high-contrast": "dark",
  kintsugi: "dark",
};

/** Reads a scheme; undefined for what is none. */
export function readScheme(text: unknown): Scheme | undefined {
  return text === "light" || text === "dark" || text === "light dark" ? text : undefined;
}

/** The scheme of a theme: the one it says, else that of the shipped theme of its name. */
export function schemeOf(theme: ThemeChanged | undefined): Scheme {
  const said = readScheme(theme?.tokens?.find((t) => t.name === SCHEME_TOKEN)?.value);
  return said ?? (theme && Object.hasOwn(shipped, theme.name) ? shipped[theme.name] : undefined) ?? "light dark";
}
