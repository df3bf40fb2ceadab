import type { Schema } from "#base/domain/operations.ts";
import { ACT_MS, ask, SAVE_MS } from "#base/transport/http.ts";
import { base } from "./address";

/** A text that is typed and not saved, as the server keeps it; without its text in a list. */
export type StoredDraft = Schema<"DraftsDraft">;

/** What this page calls itself: what it changed before it has an answer is no conflict. */
const page = crypto.randomUUID();

const at = (app: string, subject: string) => `${base}/drafts/${app}?subject=${encodeURIComponent(subject)}`;

/** What is typed and not saved, on the server. */
export const drafts = {
  list: (signal?: AbortSignal) => ask<"listDrafts">(`${base}/drafts`, { signal }),
  /** Of revision 0 when there is none. */
  read: (app: string, subject: string) => ask<"getDraft">(at(app, subject)),
  /**
   * Keeps a text that was made of the revision `made`, 0 for none; refused with what is there when that is another.
   * `turn` grows with every text that this page sends.
   */
  write: (
    app: string,
    subject: string,
    body: { text: string; base: string; made: number; turn: number },
    keepalive: boolean,
  ) => ask<"keepDraft">(at(app, subject), { method: "PUT", body: { ...body, by: page }, keepalive, patience: SAVE_MS }),
  drop: (app: string, subject: string, revision: number) =>
    ask<"dropDraft">(`${at(app, subject)}&revision=${revision}`, {
      method: "DELETE",
      keepalive: true,
      patience: ACT_MS,
    }),
};
