import type { ID } from "#base/domain/contracts.ts";
import { computerAsks } from "#base/transport/computer.ts";
import { ask } from "#base/transport/http.ts";
import { base } from "./address";
import { asOf, upToThen } from "./asof";

const asks = computerAsks(base);

/** The computer itself, its runs, events and documents. */
export const api = {
  ...asks,
  run: (run: ID) => ask<"getRun">(`${base}/runs/${run}`),
  events: async (after: number, run?: ID) => {
    const page = await asks.events(after, run);
    return { ...page, events: upToThen(page.events) };
  },
  documents: () => ask<"listDocuments">(asOf(`${base}/documents`)),
};
