import type { ID } from "#base/domain/contracts.ts";
import type { Answer, Body, Operation, Schema } from "#base/domain/operations.ts";
import { ACT_MS, ask } from "#base/transport/http.ts";
import type { Place } from "../domain/broke";
import type { Snap } from "../domain/windows";
import { base } from "./address";
import { asOf } from "./asof";

/** What lies on the desktop after event `seq`. */
export type DesktopState = Answer<"getDesktop">;

/** The event that a change made, which says what changed; 0 when nothing did. */
export type Changed = Schema<"DesktopChanged">;

/** A window that is to be opened. */
export type Opening = Body<"openWindow">;

const at = (window: ID) => `${base}/windows/${window}`;
const post = <Name extends Operation>(path: string, body?: Body<Name>, key?: ID) =>
  ask<Name>(path, { method: "POST", patience: ACT_MS, ...(body ? { body } : {}), ...(key ? { key } : {}) });

/** Windows, theme and settings on the server. */
export const desk = {
  state: () => ask<"getDesktop">(asOf(`${base}/desktop`)),
  open: (window: Opening, key: ID) => post<"openWindow">(`${base}/windows`, window, key),
  move: (window: ID, change: Body<"moveWindow">) => post<"moveWindow">(`${at(window)}/move`, change),
  show: (window: ID, how: "minimise" | "maximise" | "restore" | "focus" | "close") =>
    post<`${typeof how}Window`>(`${at(window)}/${how}`),
  snap: (window: ID, to: Snap) => post<"snapWindow">(`${at(window)}/snap`, { to }),
  retitle: (window: ID, title: string, subject: string) =>
    post<"retitleWindow">(`${at(window)}/title`, { title, subject }),
  setTheme: (theme: Body<"setTheme">) => post<"setTheme">(`${base}/theme`, theme),
  /** Says that the page does not work; the server bounds how much of it is kept. */
  broke: (message: string, place: Place) => post<"reportDesktopBroke">(`${base}/desktop/broke`, { message, ...place }),
  set: (key: string, value: string) => post<"setSetting">(`${base}/settings`, { key, value }),
};
