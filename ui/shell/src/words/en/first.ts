import { bar } from "./bar";
import { desktop } from "./desktop";
import { launcher } from "./launcher";
import { page } from "./page";
import { step } from "./step";

/** The English texts that come with the page. */
export const first = { bar, desktop, launcher, page, step };
