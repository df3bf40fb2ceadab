import type { ID, Time } from "#base/domain/contracts.ts";
import type { Run } from "#base/domain/views.ts";
import { computerAsks } from "#base/transport/computer.ts";
import { ask, list } from "#base/transport/http.ts";
import { base } from "./address";
import { asOf, upToThen } from "./asof";

/** A document as it is listed. */
export interface Listed {
  id: ID;
  run?: ID;
  title: string;
  version: number;
  updated_at?: Time;
}

const asks = computerAsks(base);

/** The computer itself, its runs, events and documents. */
export const api = {
  ...asks,
  run: (run: ID) => ask<Run>(`${base}/runs/${run}`),
  events: async (after: number, run?: ID) => {
    const page = await asks.events(after, run);
    return { ...page, events: upToThen(page.events) };
  },
  documents: () => list<Listed>(asOf(`${base}/documents`)),
};
