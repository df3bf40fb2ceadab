import type { Digest, FileState, ID } from "#base/domain/contracts.ts";
import type { Body, Operation, Schema } from "#base/domain/operations.ts";
import { problemOf, Refusal } from "#base/domain/problem.ts";
import { ask, receive, SAVE_MS, send } from "#base/transport/http.ts";
import { base, inAddress } from "./address";
import { asOf } from "./asof";

/** One page of a folder. */
export type FolderPage = Schema<"WorkspaceFolderPage">;

/** Something in the trash. */
export type Trashed = Schema<"WorkspaceTrashed">;

/** From where to where. */
export type Transfer = Schema<"TransferItem">;

/** What to look for, below a folder. */
export interface Wanted {
  path?: string;
  name?: string;
  content?: string;
  limit?: number;
  /** Those whose names fit best, the best first. */
  best?: boolean;
}

const post = <Name extends Operation>(path: string, body?: Body<Name>) =>
  ask<Name>(`${base}${path}`, { method: "POST", ...(body ? { body } : {}), key: crypto.randomUUID() });

/** Where the content of a file lies. */
export function fileAddress(path: string, download = false): string {
  return asOf(`${base}/files/${inAddress(path)}${download ? "?download=true" : ""}`);
}

/** What is asked of a file so that nothing unseen is lost. */
export function matchOf(file: FileState): string {
  return file.digest ?? "*";
}

/** The files of the workspace. */
export const files = {
  folder: (path: string, after = "", signal?: AbortSignal) =>
    ask<"listFolder">(
      asOf(`${base}/folder?limit=10000&path=${encodeURIComponent(path)}&after=${encodeURIComponent(after)}`),
      signal ? { signal } : {},
    ),
  makeFolder: (path: string) => post<"makeFolder">("/folders", { path }),
  move: (items: Transfer[]) => post<"moveFiles">("/moves", { items }),
  copy: (items: Transfer[]) => post<"copyFiles">("/copies", { items }),
  trashed: async () => (await ask<"listTrash">(`${base}/trash`)).items,
  trash: async (items: Schema<"TrashItem">[]) => (await post<"trashFiles">("/trash", { items })).items,
  restore: (id: ID, to?: string) => post<"restoreFile">(`/trash/${id}/restore`, to ? { to } : {}),
  emptyTrash: (id?: ID) => ask<"emptyTrash">(`${base}/trash${id ? `?id=${id}` : ""}`, { method: "DELETE" }),
  find: (wanted: Wanted, signal?: AbortSignal) => {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(wanted)) if (value) query.set(key, String(value));
    return ask<"find">(`${base}/find?${query}`, { signal });
  },
  /** What a file is, by its first bytes; how many it has, and the digest of its content. */
  head: (path: string, signal?: AbortSignal) =>
    // Not with HEAD, whose refusals say nothing.
    receive(fileAddress(path), { signal, headers: { Range: "bytes=0-0" } }, async (response) => {
      const { headers, status } = response;
      // As it was then it comes whole, which nobody wants here, however that ends.
      if (status === 206) await response.arrayBuffer();
      else response.body?.cancel().catch(() => undefined);
      const size = headers.get("Content-Range")?.split("/")[1] ?? headers.get("Content-Length");
      return { type: headers.get("Content-Type") ?? "", size: Number(size ?? 0), digest: headers.get("ETag") ?? "" };
    }),
  /** The first bytes of a file. */
  beginning: (path: string, bytes: number, signal?: AbortSignal) =>
    receive(fileAddress(path), { signal, headers: { Range: `bytes=0-${bytes - 1}` } }, (r) => r.arrayBuffer()),
  read: (path: string, signal?: AbortSignal) => send(fileAddress(path), signal ? { signal } : {}),
  /** Gives what `take` makes of the answer with a file, which is there in the time of an answer. */
  receive: <T>(path: string, take: (response: Response) => Promise<T>, signal?: AbortSignal) =>
    receive(fileAddress(path), { signal, patience: SAVE_MS }, take),
  /** Writes a file: over what was seen, or where nothing is when `seen` is undefined. */
  write: (path: string, content: Blob | string, seen: Digest | "*" | undefined) =>
    ask<"writeFile">(fileAddress(path), {
      method: "PUT",
      content,
      patience: SAVE_MS,
      headers: seen === undefined ? { "If-None-Match": "*" } : { "If-Match": seen === "*" ? "*" : `"${seen}"` },
    }),
};

/** A file that was found, and the line it was found in. */
export type Found = Schema<"GuestMatch">;

/** Writes a new file and tells how far it is, from 0 to 1; fetch cannot. Rejects with a Refusal, or once it is given up. */
export function upload(
  path: string,
  content: File,
  onProgress: (part: number) => void,
  stopped = new AbortController().signal,
): Promise<void> {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    const detachAndSettle = (settle: () => unknown) => {
      stopped.removeEventListener("abort", stop);
      settle();
    };
    request.open("PUT", fileAddress(path));
    request.setRequestHeader("If-None-Match", "*");
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.onprogress = (e) => e.lengthComputable && onProgress(e.loaded / e.total);
    request.onerror = () => detachAndSettle(() => whyUnsent(content).then(failed, failed));
    request.onabort = () => detachAndSettle(() => failed(stopped.reason));
    request.onload = () => detachAndSettle(() => (request.status < 300 ? done() : failed(refusalOf(request))));
    stopped.addEventListener("abort", stop);
    if (stopped.aborted) detachAndSettle(() => failed(stopped.reason));
    else request.send(content);
  });
}

/** A request that never arrived looks the same whether the file could not be read or the computer is away: the file is tried. */
async function whyUnsent(content: Blob): Promise<Refusal> {
  try {
    await content.slice(0, 1).arrayBuffer();
  } catch {
    return new Refusal({
      status: 0,
      code: "not_found",
      detail: "this browser cannot read it",
      remedy: "see whether it is still there and may be read",
    });
  }
  return new Refusal({
    status: 0,
    code: "unavailable",
    detail: "the computer cannot be reached",
    remedy: "check that choir is running, then try again",
  });
}

function refusalOf(request: XMLHttpRequest): Refusal {
  let said: unknown;
  try {
    said = JSON.parse(request.responseText);
  } catch {
    // Something between the page and choir answered in its own words.
  }
  return new Refusal(problemOf(said, request.status));
}
