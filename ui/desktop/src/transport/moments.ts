import { momentAsks } from "#base/transport/moments.ts";
import { base } from "./address";

/** Looks at the past of this computer. */
export const moments = momentAsks(base);
