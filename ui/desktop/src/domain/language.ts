export { type Language, languageOf, languages } from "#base/domain/language.ts";
