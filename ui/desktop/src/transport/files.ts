import type { FileState } from "../domain/contracts";
import { base } from "./address";
import { ask } from "./http";

/** What to look for, below a folder. */
export interface Wanted {
  path?: string;
  name?: string;
  content?: string;
  limit?: number;
}

/** Files by name or content. */
export async function findFiles(wanted: Wanted, signal?: AbortSignal): Promise<FileState[]> {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(wanted)) if (value) query.set(key, String(value));
  const answer = await ask<{ found: { file: FileState }[] | null }>(`${base}/find?${query}`, signal ? { signal } : {});
  return (answer.found ?? []).map((f) => f.file);
}
