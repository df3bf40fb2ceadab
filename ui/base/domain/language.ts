/** The languages there are. */
export const languages = ["en", "de"] as const;
export type Language = (typeof languages)[number];

/** The language a setting names, else the first of those the browser wants that there is. */
export function languageOf(setting: string, wanted: readonly string[]): Language {
  const known = (tag: string) => languages.find((l) => tag === l || tag.startsWith(`${l}-`));
  return known(setting) ?? wanted.map(known).find((l) => l !== undefined) ?? "en";
}

/** The language of the browser, for pages that know no setting. */
export function browserLanguage(): Language {
  return languageOf("", globalThis.navigator?.languages ?? []);
}

let current: Language = "en";
const followers = new Set<() => void>();

/** Returns the language in which the page speaks. */
export function spoken(): Language {
  return current;
}

/** Changes the language of the page, and tells all who follow it. */
export function speak(language: Language): void {
  if (language === current) return;
  current = language;
  for (const follow of followers) follow();
}

/** Calls `follow` after each change of the language, until the returned function is called. */
export function followLanguage(follow: () => void): () => void {
  followers.add(follow);
  return () => followers.delete(follow);
}
