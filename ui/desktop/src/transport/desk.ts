import type { ID, Rect, ThemeChanged } from "#base/domain/contracts.ts";
import { ask } from "#base/transport/http.ts";
import type { Place } from "../domain/broke";
import type { Snap, Win } from "../domain/windows";
import { base } from "./address";
import { asOf } from "./asof";

/** What lies on the desktop after event `seq`. */
export interface DesktopState {
  seq: number;
  windows: Win[] | null;
  theme?: ThemeChanged;
  /** Its file in the workspace was changed after it was set. */
  theme_outdated?: boolean;
  settings: { key: string; value?: string }[] | null;
}

/** A window after a change, and the event that made it; 0 when nothing changed. */
export interface Changed {
  window: Win;
  seq: number;
}

/** A window that is to be opened. */
export interface Opening {
  app: string;
  title?: string;
  subject?: string;
  bounds: Rect;
  desktop?: number;
  /** The run that opens it; absent when a person does. */
  run?: ID;
}

const at = (window: ID) => `${base}/windows/${window}`;
const post = <T>(path: string, body?: object, key?: ID) =>
  ask<T>(path, { method: "POST", ...(body ? { body } : {}), ...(key ? { key } : {}) });

/** Windows, theme and settings on the server. */
export const desk = {
  state: () => ask<DesktopState>(asOf(`${base}/desktop`)),
  open: (window: Opening, key: ID) => post<Changed>(`${base}/windows`, window, key),
  move: (window: ID, change: { bounds?: Rect; desktop?: number }) => post<Changed>(`${at(window)}/move`, change),
  show: (window: ID, how: "minimise" | "maximise" | "restore" | "focus" | "close") =>
    post<Changed>(`${at(window)}/${how}`),
  snap: (window: ID, to: Snap) => post<Changed>(`${at(window)}/snap`, { to }),
  retitle: (window: ID, title: string, subject: string) => post<Changed>(`${at(window)}/title`, { title, subject }),
  setTheme: (theme: ThemeChanged) => post<{ seq: number }>(`${base}/theme`, theme),
  /** Says that the page does not work; the server bounds how much of it is kept. */
  broke: (message: string, place: Place) => post<object>(`${base}/desktop/broke`, { message, ...place }),
  set: (key: string, value: string) => post<{ seq: number }>(`${base}/settings`, { key, value }),
};
