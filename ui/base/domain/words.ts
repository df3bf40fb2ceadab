import { type Language, spoken } from "./language";

/** A text, or one for each form of a number. `{name}` in it is a hole for a value. */
export type Text = string | { one: string; other: string };

/** One text in each language. */
export type Named = Record<Language, string>;

/** The texts of one part of a page in the first language, by key. */
export type Texts = Readonly<Record<string, Text>>;

/** The texts of one part in another language: the same keys, all of them. */
export type Translated<E extends Texts> = { readonly [K in keyof E]: Text };

/** The texts of one part, complete in each language. */
export interface Words<K extends string> {
  en: Record<K, Text>;
  de: Record<K, Text>;
}

/** Texts in both languages; the compiler finds what one of them lacks. */
export function defineWords<const E extends Texts>(words: { en: E; de: Translated<E> }): Words<keyof E & string> {
  return words as unknown as Words<keyof E & string>;
}

/** What is put into a text. */
export type Values = Readonly<Record<string, string | number>>;

/** The names of the holes of a text; `n`, which chooses among the forms of a number, is one of them. */
export type Holes<T> = T extends string
  ? T extends `${string}{${infer Name}}${infer Rest}`
    ? Name | Holes<Rest>
    : never
  : T extends { one: infer One; other: infer Other }
    ? "n" | Holes<One> | Holes<Other>
    : never;

/** The values that a text must be given; nothing for one without holes. */
export type Given<T> = [Holes<T>] extends [never] ? [] : [values: Readonly<Record<Holes<T>, string | number>>];

/** Puts values into a text of a language. `n` chooses the form, and numbers are written as the language does. */
export function fill(text: Text, language: Language, values: Values = {}): string {
  return formOf(text, language, values).replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    return typeof value === "number" ? value.toLocaleString(language) : (value ?? "");
  });
}

/** The form of a text that fits the number `n`, its holes still open. */
export function formOf(text: Text, language: Language, values: Values = {}): string {
  if (typeof text === "string") return text;
  const rule = new Intl.PluralRules(language).select(Number(values.n ?? 0));
  return rule === "one" ? text.one : text.other;
}

/** The text for a key in a language, with its values put in. `n` chooses between one and other. */
export function say<K extends string>(words: Words<K>, language: Language, key: K, values: Values = {}): string {
  return fill(words[language][key], language, values);
}

/** Speaks the texts of one part. */
export type Say<K extends string> = (key: K, values?: Values) => string;

/** Returns a name in the language of the page. */
export function named(name: Named): string {
  return name[spoken()];
}

/** Several things in a row as the language writes it: "a, b and c". */
export function listed(things: readonly string[]): string {
  return new Intl.ListFormat(spoken(), { type: "conjunction" }).format(things);
}
