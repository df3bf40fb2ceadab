import { tell } from "../domain/basewords";
import type { Answer, Body, Operation } from "../domain/operations";
import { problemOf, Refusal, Unanswered } from "../domain/problem";
import type { ProblemDocument } from "../domain/problemtypes";

/** How long the answer to a GET may take where nothing else is said, in milliseconds. */
const ANSWER_MS = 30_000;

/** How long the server may take to acknowledge what a person does, in milliseconds; it may work on after that. */
export const ACT_MS = 20_000;

/** How long a text may take to be saved, which is up to 8 MiB, in milliseconds. */
export const SAVE_MS = 60_000;

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
  /** How long the answer may take as a whole, in milliseconds; 0 for any time. */
  patience?: number;
  /** It goes on when the page is left; the browser takes 64 KiB of such bodies. */
  keepalive?: boolean;
}

/** Asks for an operation of the OpenAPI document and decodes its JSON. Throws a Refusal for every answer that is not a success. */
export function ask<Name extends Operation>(path: string, options: Ask<Body<Name>> = {}): Promise<Answer<Name>> {
  return receive(path, options, async (response) => {
    const mayBeEmpty = response.status === 204 || response.status === 202;
    return (mayBeEmpty ? await maybeJSON(response) : await response.json()) as Answer<Name>;
  });
}

/** Makes a request and gives the body as text. */
export function askText(path: string, signal?: AbortSignal): Promise<string> {
  return receive(path, { signal }, (response) => response.text());
}

/** Makes a request and gives the body as it is. */
export function askBytes(path: string, signal?: AbortSignal): Promise<ArrayBuffer> {
  return receive(path, { signal }, (response) => response.arrayBuffer());
}

async function maybeJSON(response: Response): Promise<unknown> {
  const text = await response.text();
  return text ? JSON.parse(text) : undefined;
}

/**
 * Makes a request and reads its answer with `read`, in the time that both may take. Throws a Refusal for every answer
 * that is not a success, breaks off, comes too late or is something else, and what the caller's signal was aborted with.
 */
export async function receive<T>(
  path: string,
  options: Ask<unknown>,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const { signal, patience = options.method && options.method !== "GET" ? 0 : ANSWER_MS } = options;
  const stop = new AbortController();
  const giveUp = () => stop.abort(signal?.reason);
  const timer = patience > 0 ? setTimeout(() => stop.abort(), patience) : undefined;
  signal?.addEventListener("abort", giveUp);
  if (signal?.aborted) giveUp();
  try {
    const response = await send(path, { ...options, signal: stop.signal });
    try {
      return await read(response);
    } catch (cause) {
      if (stop.signal.aborted || !(cause instanceof SyntaxError)) throw cause;
      throw new Refusal(unreadable(response.status));
    }
  } catch (cause) {
    if (signal?.aborted) throw cause;
    if (stop.signal.aborted) throw new Unanswered(unavailable("noAnswer"));
    // With this error a browser says that the body broke off; any other is of who reads.
    throw cause instanceof TypeError ? new Refusal(unavailable("brokeOff")) : cause;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }
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
    if (signal?.aborted) throw cause;
    throw new Refusal(unavailable("unreachable"));
  }
  if (!response.ok) throw await refusalOf(response);
  return response;
}

/** No answer came, or not all of it. */
function unavailable(why: "noAnswer" | "brokeOff" | "unreachable"): ProblemDocument {
  return { status: 0, code: "unavailable", detail: tell(why), remedy: tell("unreachableHelp") };
}

/** The answer is not choir's. */
function unreadable(status: number): ProblemDocument {
  return { status, code: "internal", detail: tell("unreadable"), remedy: tell("unreadableHelp") };
}

async function refusalOf(response: Response): Promise<Refusal> {
  const after = Number(response.headers.get("Retry-After"));
  // Something between the page and choir may answer in its own words.
  const said: unknown = await response.json().catch(() => undefined);
  return new Refusal(problemOf(said, response.status), after > 0 ? after : undefined);
}
