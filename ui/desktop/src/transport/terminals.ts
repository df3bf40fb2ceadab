import type { ID } from "#base/domain/contracts.ts";
import type { Body, Schema } from "#base/domain/operations.ts";
import { ACT_MS, ask } from "#base/transport/http.ts";
import { base } from "./address";

/** The size of a terminal, in characters. */
export type Size = Schema<"GuestSize">;

/** A terminal that is open. */
export type Terminal = Schema<"TerminalsInfo">;

/** The agent whose command a terminal shows. */
export type Agent = Schema<"TerminalsAgent">;

/** How a terminal ended. */
export interface End {
  reason: "exited" | "closed" | "rewind" | "undo" | "taken" | "lost";
  code: number;
  signal?: string;
}

const at = `${base}/terminals`;

/** The terminals of this computer. */
export const terminals = {
  list: (signal?: AbortSignal) => ask<"listTerminals">(at, { signal }),
  open: (wanted: Body<"openTerminal">, key: string) =>
    ask<"openTerminal">(at, { method: "POST", body: wanted, key, patience: ACT_MS }),
  close: (terminal: ID) => ask<"closeTerminal">(`${at}/${terminal}`, { method: "DELETE", patience: ACT_MS }),
  /** Where its output comes from after this offset. */
  socket: (terminal: ID, after: number) =>
    `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${at}/${terminal}/socket?after=${after}`,
};
