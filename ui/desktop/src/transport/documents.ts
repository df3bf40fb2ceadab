import type { ID, TextAnchor, Time } from "#base/domain/contracts.ts";
import { ask, list } from "#base/transport/http.ts";
import type { OverlayKind, OverlayOutcome, Source } from "../domain/writing";
import { base, past } from "./address";
import { asOf } from "./asof";

/** A document at one of its versions; its content is there when it was asked for by itself. */
export interface Doc {
  id: ID;
  run?: ID;
  title: string;
  version: number;
  content?: string;
  note?: string;
  by?: Source;
  at: Time;
}

/** A proposal or a comment over a document. */
export interface Overlay {
  id: ID;
  document: ID;
  version: number;
  kind: OverlayKind;
  anchor: TextAnchor;
  text: string;
  reply_to?: ID;
  by: Source;
  at: Time;
  outcome?: OverlayOutcome;
}

/** What is put over a document. */
export type NewOverlay = Pick<Overlay, "version" | "kind" | "anchor" | "text"> & { reply_to?: ID };

const at = (document: ID) => `${base}/documents/${document}`;

/** The documents of the computer. */
export const documents = {
  list: () => list<Doc>(asOf(`${base}/documents`)),
  create: (title: string, content = "") =>
    ask<Doc>(`${base}/documents`, { method: "POST", body: { title, content }, key: crypto.randomUUID() }),
  read: (document: ID, version = -1, signal?: AbortSignal) =>
    ask<Doc>(asOf(`${at(document)}?version=${version}`), signal ? { signal } : {}),
  /** Its versions; of then only the one is known that was the newest. */
  versions: async (document: ID) => (past ? [] : list<Doc>(`${at(document)}/versions`)),
  rename: (document: ID, title: string) => ask<Doc>(`${at(document)}/title`, { method: "PUT", body: { title } }),
  remove: (document: ID) => ask<void>(at(document), { method: "DELETE" }),
  /** Saves a version made of `made`; refused with the newest one when that is another. */
  save: (document: ID, made: number, content: string, accepted: ID[] = []) =>
    ask<Doc>(`${at(document)}/versions/${made + 1}`, { method: "PUT", body: { content, accepted } }),
  /** What lies over it now; nobody keeps what lay there. */
  overlays: async (document: ID) => (past ? [] : list<Overlay>(`${at(document)}/overlays`)),
  overlay: (document: ID, overlay: NewOverlay) =>
    ask<Overlay>(`${at(document)}/overlays`, { method: "POST", body: overlay, key: crypto.randomUUID() }),
  settle: (document: ID, overlay: ID, outcome: OverlayOutcome) =>
    ask<Overlay>(`${at(document)}/overlays/${overlay}/settle`, { method: "POST", body: { outcome } }),
};
