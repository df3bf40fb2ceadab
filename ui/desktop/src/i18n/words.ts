import type { Language } from "../domain/language";
import { useStore } from "../state/store";

/** A text, or one for each number. */
export type Text = string | { one: string; other: string };

/** One text in each language. */
export type Named = Record<Language, string>;

/** The texts of one part of the desktop, complete in each language. */
export interface Words<K extends string> {
  en: Record<K, Text>;
  de: Record<K, Text>;
}

/** Texts in both languages; the compiler finds what one of them lacks. */
export function defineWords<const E extends Record<string, Text>>(words: {
  en: E;
  de: { [K in keyof E]: Text };
}): Words<keyof E & string> {
  return words as unknown as Words<keyof E & string>;
}

/** What is put into a text. */
export type Values = Record<string, string | number>;

/** The text for a key in a language, with its values put in. `n` chooses between one and other. */
export function say<K extends string>(words: Words<K>, language: Language, key: K, values: Values = {}): string {
  const text = words[language][key];
  const chosen = typeof text === "string" ? text : text[pluralOf(language, Number(values.n ?? 0))];
  return chosen.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    return typeof value === "number" ? value.toLocaleString(language) : (value ?? "");
  });
}

function pluralOf(language: Language, n: number): "one" | "other" {
  return new Intl.PluralRules(language).select(n) === "one" ? "one" : "other";
}

/** Speaks the texts of one part. */
export type Say<K extends string> = (key: K, values?: Values) => string;

/** The texts of one part in the language of the desktop. */
export function useWords<K extends string>(words: Words<K>): Say<K> {
  const language = useStore((s) => s.language);
  return (key, values) => say(words, language, key, values);
}

/** A name in the language of the desktop. */
export function useNamed(): (named: Named) => string {
  const language = useStore((s) => s.language);
  return (named) => named[language];
}
