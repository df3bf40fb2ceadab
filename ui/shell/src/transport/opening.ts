import type { ID } from "#base/domain/contracts.ts";
import type { Source } from "../domain/source";
import { computerAPI } from "./api";

/** All that a frame with the desktop needs to begin. */
export interface Opening {
  /** The frame's address, with a ticket that works once, within 30 seconds. */
  url: string;
  /** The server of the desktop's page; undefined when the control plane did not say. */
  source: Source | undefined;
}

/** Asks for a frame's ticket and the source behind it, both at once. Fails when there is no ticket. */
export async function askOpening(computer: ID): Promise<Opening> {
  const api = computerAPI(computer);
  const [{ url }, source] = await Promise.all([api.ticket(), api.source().catch(() => undefined)]);
  return { url, source };
}
