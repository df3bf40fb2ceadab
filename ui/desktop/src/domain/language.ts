/** The languages there are. */
export const languages = ["en", "de"] as const;
export type Language = (typeof languages)[number];

/** The language a setting names, else the first of those the browser wants that there is. */
export function languageOf(setting: string, wanted: readonly string[]): Language {
  const known = (tag: string) => languages.find((l) => tag === l || tag.startsWith(`${l}-`));
  return known(setting) ?? wanted.map(known).find((l) => l !== undefined) ?? "en";
}
