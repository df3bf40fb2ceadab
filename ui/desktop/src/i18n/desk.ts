import { de } from "./de";
import { en } from "./en";
import { defineWords } from "./words";

/** The texts of the desktop itself; apps have their own. */
export const deskWords = defineWords({ en, de });
