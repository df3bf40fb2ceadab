import { first } from "./first";
import { late } from "./late";

/** All texts of the shell in English, by the part of the page that they are of. */
export const en = { ...first, ...late };
