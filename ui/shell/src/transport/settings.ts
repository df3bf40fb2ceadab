import { PATIENCE_MS } from "#base/domain/backoff.ts";
import { ask } from "#base/transport/http.ts";
import type { Connected, ConnectRequest } from "../domain/connect";
import type { Settings } from "../domain/settings";

/** How long the test of a service may take: longer than the server waits for it. */
const TEST_MS = 30_000;

/** What is set outside of a computer; given up when it takes longer than people wait. */
export function readSettings(): Promise<Settings> {
  return ask<"getSettings">("/api/settings", { patience: PATIENCE_MS });
}

/** Sets the phrase by which the owner recognizes the shell; an empty one removes it. */
export function choosePhrase(phrase: string): Promise<Settings> {
  return ask<"choosePhrase">("/api/settings/phrase", { method: "PUT", body: { phrase }, patience: PATIENCE_MS });
}

/** Tests a model service and puts it in force. */
export function connectModel(request: ConnectRequest): Promise<Connected> {
  return ask<"connectModel">("/api/settings/models", {
    method: "POST",
    body: request,
    patience: TEST_MS,
  });
}

/** Removes a model service that was connected on the page, and its key. */
export function disconnectModel(name: string): Promise<Settings> {
  return ask<"disconnectModel">(`/api/settings/models/${encodeURIComponent(name)}`, {
    method: "DELETE",
    patience: PATIENCE_MS,
  });
}
