import { late } from "./en/late";
import { addEnglish } from "./words";

// This runs before the body of every module that imports from here.
addEnglish(late);

export { isKey, type Key, openText, t } from "./words";
