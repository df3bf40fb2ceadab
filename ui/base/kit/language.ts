import { useSyncExternalStore } from "react";
import { followLanguage, type Language, spoken } from "../domain/language";
import { type Named, type Say, say, type Words } from "../domain/words";

/** The language of the page; who asks is drawn anew when it changes. */
export function useLanguage(): Language {
  return useSyncExternalStore(followLanguage, spoken, spoken);
}

/** The texts of one part in the language of the page. */
export function useWords<K extends string>(words: Words<K>): Say<K> {
  const language = useLanguage();
  return (key, values) => say(words, language, key, values);
}

/** A name in the language of the page. */
export function useNamed(): (named: Named) => string {
  const language = useLanguage();
  return (named) => named[language];
}
