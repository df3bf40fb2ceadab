import { vi } from "vitest";

/** Makes the answer to a request. */
export type Reply = (request: { path: string; headers: Headers }) => Response | Promise<Response>;

/** An answer in JSON. */
export const json =
  (value: unknown, status = 200): Reply =>
  () =>
    new Response(JSON.stringify(value), { status, headers: { "Content-Type": "application/json" } });

/** A refusal of choir. */
export const refused = (status: number, code: string, detail: string): Reply =>
  json({ type: "about:blank", title: "Refused", status, code, detail, remedy: "try something else" }, status);

/** What a server between the page and choir says, or something else than choir at its address. */
export const strange =
  (status = 200): Reply =>
  () =>
    new Response("<h1>Hello</h1>", { status, headers: { "Content-Type": "text/html" } });

/** An answer that breaks off in its middle. */
export const cut: Reply = () => {
  const breakOff = () => Promise.reject(new TypeError("network error"));
  return Object.assign(new Response('{"id":'), { json: breakOff, text: breakOff, arrayBuffer: breakOff });
};

/** No answer, ever. */
export const never: Reply = () => new Promise(() => {});

/** An answer that comes when the test says so. */
export function late(reply: Reply): { reply: Reply; answer(): void } {
  let answer = () => {};
  const due = new Promise<void>((done) => {
    answer = done;
  });
  return { reply: (request) => due.then(() => reply(request)), answer: () => answer() };
}

/** The server of one test: it answers by method and the end of the path. Nothing else is there, and no change is answered. */
export class FakeServer {
  readonly asked: string[] = [];
  private readonly replies: [pattern: string, reply: Reply][] = [];

  constructor() {
    vi.stubGlobal("fetch", (path: string, options: RequestInit = {}) => this.take(path, options));
  }

  /** Answers like this from now on: `on("GET /folder", json([]))`. */
  on(pattern: string, reply: Reply): this {
    this.replies.unshift([pattern, reply]);
    return this;
  }

  private take(path: string, { method = "GET", headers, signal }: RequestInit): Promise<Response> {
    const line = `${method} ${path}`;
    this.asked.push(line);
    const [, reply = method === "GET" ? json([]) : never] = this.replies.find(([pattern]) => fits(pattern, line)) ?? [];
    return new Promise((done, failed) => {
      // As fetch does: what is given up is answered no more.
      signal?.addEventListener("abort", () => failed(signal.reason));
      if (signal?.aborted) failed(signal.reason);
      Promise.resolve(reply({ path, headers: new Headers(headers) })).then(done, failed);
    });
  }
}

function fits(pattern: string, line: string): boolean {
  const [method, end = ""] = pattern.split(" ");
  const [asked, path = ""] = line.split(" ");
  return method === asked && path.split("?")[0]?.endsWith(end) === true;
}
