export { defineWords, type Named, type Say, say, type Text, type Values, type Words } from "#base/domain/words.ts";
export { useNamed, useWords } from "#base/kit/language.ts";
