import type { ID, TextAnchor } from "#base/domain/contracts.ts";
import type { Schema } from "#base/domain/operations.ts";
import { ACT_MS, ask, SAVE_MS } from "#base/transport/http.ts";
import type { OverlayOutcome } from "../domain/writing";
import { base, past } from "./address";
import { asOf } from "./asof";

/** A document at one of its versions; its content is there when it was asked for by itself. */
export type Doc = Schema<"EventstoreDocument">;

/** A proposal or a comment over a document. */
export type Overlay = Schema<"EventstoreOverlay">;

/** What is put over a document. */
export type NewOverlay = Schema<"OverlayRequest"> & { anchor: TextAnchor };

const at = (document: ID) => `${base}/documents/${document}`;

/** The documents of the computer. */
export const documents = {
  list: () => ask<"listDocuments">(asOf(`${base}/documents`)),
  create: (title: string, content = "") =>
    ask<"createDocument">(`${base}/documents`, {
      method: "POST",
      body: { title, content },
      key: crypto.randomUUID(),
      patience: ACT_MS,
    }),
  read: (document: ID, version = -1, signal?: AbortSignal) =>
    ask<"getDocument">(asOf(`${at(document)}?version=${version}`), signal ? { signal } : {}),
  /** Its versions; of then only the one is known that was the newest. */
  versions: async (document: ID) => (past ? [] : ask<"listVersions">(`${at(document)}/versions`)),
  rename: (document: ID, title: string) =>
    ask<"renameDocument">(`${at(document)}/title`, { method: "PUT", body: { title }, patience: ACT_MS }),
  remove: (document: ID) => ask<"removeDocument">(at(document), { method: "DELETE", patience: ACT_MS }),
  /** Saves a version made of `made`; refused with the newest one when that is another. */
  save: (document: ID, made: number, content: string, accepted: ID[] = []) =>
    ask<"saveVersion">(`${at(document)}/versions/${made + 1}`, {
      method: "PUT",
      body: { content, accepted },
      patience: SAVE_MS,
    }),
  /** What lies over it now; nobody keeps what lay there. */
  overlays: async (document: ID) => (past ? [] : ask<"listOverlays">(`${at(document)}/overlays`)),
  overlay: (document: ID, overlay: NewOverlay) =>
    ask<"addOverlay">(`${at(document)}/overlays`, {
      method: "POST",
      body: overlay,
      key: crypto.randomUUID(),
      patience: ACT_MS,
    }),
  settle: (document: ID, overlay: ID, outcome: OverlayOutcome) =>
    ask<"settleOverlay">(`${at(document)}/overlays/${overlay}/settle`, {
      method: "POST",
      body: { outcome },
      patience: ACT_MS,
    }),
};
