import { useQuery } from "@tanstack/react-query";
import type { Digest } from "#base/domain/contracts.ts";
import { isAskedAgain } from "#base/domain/problem.ts";
import { textOf } from "#base/domain/text.ts";
import { files } from "../transport/files";

/** The text of a file and what it was when it was read. */
export interface TextFile {
  text: string;
  digest: Digest | undefined;
}

/** The file holds something else than text. */
export class NotText extends Error {}

/** The file has more bytes than are read as text. */
export class TooLong extends Error {
  readonly bytes: number;

  constructor(bytes: number) {
    super();
    this.bytes = bytes;
  }
}

/** Largest file that is read as text, in bytes. */
export const LARGEST = 8 << 20;

/** Reads a file as text. */
export function readText(path: string, signal?: AbortSignal): Promise<TextFile> {
  return files.receive(path, (response) => textIn(path, response), signal);
}

async function textIn(path: string, response: Response): Promise<TextFile> {
  const length = Number(response.headers.get("Content-Length") ?? 0);
  if (length > LARGEST) {
    // The rest is not wanted, however that ends.
    response.body?.cancel().catch(() => undefined);
    throw new TooLong(length);
  }
  const content = await response.arrayBuffer();
  const text = textOf(content, Number.POSITIVE_INFINITY)?.text;
  if (text === undefined) throw new NotText(path);
  return { text, digest: response.headers.get("ETag")?.replaceAll('"', "") };
}

/** The text of a file, read again when files change. */
export function useText(path: string) {
  return useQuery({
    queryKey: ["files", "text", path],
    queryFn: ({ signal }) => readText(path, signal),
    retry: (count, error) => !(error instanceof NotText || error instanceof TooLong) && isAskedAgain(count, error),
  });
}
