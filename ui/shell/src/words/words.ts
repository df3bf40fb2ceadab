import { type Language, speak, spoken } from "#base/domain/language.ts";
import { sayProblemsIn } from "#base/domain/problem.ts";
import { fill, formOf, type Given, type Text, type Translated, type Values } from "#base/domain/words.ts";
import type { en } from "./en";
import { first } from "./en/first";

type English = typeof en;
type Catalogue = { readonly [P in keyof English]: Translated<English[P]> };

/** The name of a text: the part of the page, a point, and its key there. */
export type Key = { [P in keyof English & string]: `${P}.${keyof English[P] & string}` }[keyof English & string];

type TextOf<K extends Key> = K extends `${infer P extends keyof English & string}.${infer Q}`
  ? Q extends keyof English[P]
    ? English[P][Q]
    : never
  : never;

/**
 * The texts of each language that are here. English comes in two parts: the first with the
 * page, the rest with the modules that import `t` from `late.ts`. Other languages come whole,
 * when they are wanted.
 */
const catalogues: { en: Partial<Catalogue> } & Partial<Record<Exclude<Language, "en">, Catalogue>> = {
  en: { ...first },
};

/** Adds parts of the English catalogue. */
export function addEnglish(parts: Partial<Catalogue>): void {
  Object.assign(catalogues.en, parts);
}

let wanted: Language = "en";

/** Has the page speak a language, once its texts are here; the language that is wanted last wins. */
export async function speakIn(language: Language): Promise<void> {
  wanted = language;
  if (!catalogues[language]) {
    try {
      const problems = sayProblemsIn(language);
      catalogues[language] = (await import("./de")).de;
      await problems;
    } catch {
      return; // the page goes on in the language that it has
    }
  }
  if (wanted === language) speak(language);
}

/** The text for a key in the language of the page, with its values put in. */
export function t<K extends Key>(key: K, ...[values]: Given<TextOf<K>>): string {
  return fill(textOf(key), spoken(), values);
}

/** The text for a key with its holes still open, for sentences in which other elements stand. */
export function openText(key: Key, values: Values = {}): string {
  return formOf(textOf(key), spoken(), values);
}

/** Whether a key, such as one from the server, has a text. */
export function isKey(key: string): key is Key {
  const [part = "", name = ""] = key.split(".");
  const texts: Record<string, Record<string, Text> | undefined> = catalogues.en;
  return texts[part]?.[name] !== undefined;
}

function textOf(key: Key): Text {
  const [part, name] = key.split(".") as [keyof English, never];
  const texts = catalogues[spoken()]?.[part] ?? catalogues.en[part];
  if (!texts) throw new Error(`the texts of ${part} are not here: import t from words/late`);
  return texts[name];
}
