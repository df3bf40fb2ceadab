import type { ID, Time } from "#base/domain/contracts.ts";
import { ask, list } from "#base/transport/http.ts";
import { base } from "./address";

/** The size of a terminal, in characters. */
export interface Size {
  rows: number;
  cols: number;
}

/** A terminal that is open. */
export interface Terminal {
  terminal: ID;
  title: string;
  cwd: string;
  opened: Time;
  size: Size;
  viewers: number;
}

/** How a terminal ended. */
export interface End {
  reason: "exited" | "closed" | "rewind" | "undo" | "taken" | "lost";
  code: number;
  signal?: string;
}

const at = `${base}/terminals`;

/** The terminals of this computer. */
export const terminals = {
  list: (signal?: AbortSignal) => list<Terminal>(at, signal),
  open: (wanted: { cwd?: string; title?: string; type?: string }, key: string) =>
    ask<Terminal>(at, { method: "POST", body: wanted, key }),
  close: (terminal: ID) => ask<void>(`${at}/${terminal}`, { method: "DELETE" }),
  /** Where its output comes from after this offset. */
  socket: (terminal: ID, after: number) =>
    `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${at}/${terminal}/socket?after=${after}`,
};
