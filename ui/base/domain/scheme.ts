import type { ThemeChanged } from "./contracts";

/** Whether a page is light or dark; "light dark" follows the system's preference. */
export type Scheme = "light" | "dark" | "light dark";

/** The token by which a theme says its scheme in the log. */
export const SCHEME_TOKEN = "color-scheme";

/** How far ink is from paper; "more" is for eyes that need it. */
export type Contrast = "standard" | "more";

/** The token by which a theme says its contrast in the log. */
export const CONTRAST_TOKEN = "contrast";

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

/** Reads a contrast; undefined for what is none. */
export function readContrast(text: unknown): Contrast | undefined {
  return text === "standard" || text === "more" ? text : undefined;
}

const said = (theme: ThemeChanged | undefined, token: string) => theme?.tokens?.find((t) => t.name === token)?.value;

/** The contrast of a theme: the one it says, else that of the shipped theme of its name. */
export function contrastOf(theme: ThemeChanged | undefined): Contrast {
  return readContrast(said(theme, CONTRAST_TOKEN)) ?? (theme?.name === "high-contrast" ? "more" : "standard");
}

/** The scheme of a theme: the one it says, else that of the shipped theme of its name. */
export function schemeOf(theme: ThemeChanged | undefined): Scheme {
  const scheme = readScheme(said(theme, SCHEME_TOKEN));
  return scheme ?? (theme && Object.hasOwn(shipped, theme.name) ? shipped[theme.name] : undefined) ?? "light dark";
}
