import type { Answer, Body, Operation } from "../domain/operations";
import { type ProblemDocument, Refusal } from "../domain/problem";

/** Options of one request, with a body of JSON of type `B`. */
export interface Ask<B = object> {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  body?: B;
  /** Content as it is, instead of a body that becomes JSON. */
  content?: Blob | string;
  headers?: Record<string, string>;
  /** The same key does the same thing once. */
  key?: string;
  signal?: AbortSignal | undefined;
  /** It goes on when the page is left; the browser takes 64 KiB of such bodies. */
  keepalive?: boolean;
}

/** Asks for an operation of the OpenAPI document and decodes its JSON. Throws a Refusal for every answer that is not a success. */
export async function ask<Name extends Operation>(path: string, options: Ask<Body<Name>> = {}): Promise<Answer<Name>> {
  const response = await send(path, options);
  return (
    response.status === 204 || response.status === 202 ? await maybeJSON(response) : await response.json()
  ) as Answer<Name>;
}

/** Makes a request and gives the body as text. */
export async function askText(path: string, signal?: AbortSignal): Promise<string> {
  return (await send(path, { signal })).text();
}

/** Makes a request and gives the body as it is. */
export async function askBytes(path: string, signal?: AbortSignal): Promise<ArrayBuffer> {
  return (await send(path, { signal })).arrayBuffer();
}

async function maybeJSON(response: Response): Promise<unknown> {
  const text = await response.text();
  return text ? JSON.parse(text) : undefined;
}

/** Makes a request; throws a Refusal for every answer that is not a success. */
export async function send(path: string, options: Ask<unknown>): Promise<Response> {
  const { method = "GET", body, content, key, signal, keepalive } = options;
  const headers = new Headers(options.headers);
  if (body) headers.set("Content-Type", "application/json");
  if (key) headers.set("Idempotency-Key", key);
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      credentials: "same-origin",
      ...(body ? { body: JSON.stringify(body) } : content !== undefined ? { body: content } : {}),
      ...(signal ? { signal } : {}),
      ...(keepalive ? { keepalive } : {}),
    });
  } catch (cause) {
    // Given up by the caller, rather than after too long.
    if (signal?.aborted && signal.reason?.name !== "TimeoutError") throw cause;
    throw new Refusal({
      status: 0,
      code: "unavailable",
      detail: "the computer cannot be reached",
      remedy: "check that choir is running, then try again",
    });
  }
  if (!response.ok) throw await refusalOf(response);
  return response;
}

async function refusalOf(response: Response): Promise<Refusal> {
  const after = Number(response.headers.get("Retry-After"));
  let problem: ProblemDocument;
  try {
    problem = (await response.json()) as ProblemDocument;
  } catch {
    problem = { status: response.status, code: "internal", detail: `the server answered ${response.status}` };
  }
  return new Refusal(problem, after > 0 ? after : undefined);
}
