import { afterEach, expect, it, vi } from "vitest";
import { Refusal } from "../domain/problem";
import { ask, receive } from "./http";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Answers every request with `response`, or fails as a browser does without one. */
function answer(response?: Response) {
  const fetch = vi.fn(async (..._: Parameters<typeof globalThis.fetch>) => {
    if (!response) throw new TypeError("Failed to fetch");
    return response;
  });
  vi.stubGlobal("fetch", fetch);
  return fetch;
}

const refused = (path = "/x") =>
  ask<"getHealth">(path).then(
    () => undefined,
    (e: Refusal) => e,
  );

it("gives what is wrong, what to do, and when to try again", async () => {
  const problem = { status: 429, code: "rate_limited", detail: "too many", remedy: "wait" };
  answer(new Response(JSON.stringify(problem), { status: 429, headers: { "Retry-After": "7" } }));
  const error = await refused();
  expect(error).toBeInstanceOf(Refusal);
  expect(error).toMatchObject({ problem, retryAfter: 7 });
});

it("says that nobody answers", async () => {
  answer();
  expect((await refused())?.problem).toMatchObject({ status: 0, code: "unavailable" });
});

it("copes with an answer that is no problem document", async () => {
  answer(new Response("<h1>Bad gateway</h1>", { status: 502 }));
  expect((await refused())?.problem.detail).toBe("the server answered 502");
});

it("tells an answer in other words than choir's, one that breaks off, and one that does not come, apart", async () => {
  answer(new Response("<h1>Hello</h1>"));
  expect((await refused())?.problem).toMatchObject({ status: 200, detail: "the computer's answer cannot be read" });
  answer(Object.assign(new Response(""), { json: () => Promise.reject(new TypeError("network error")) }));
  expect((await refused())?.problem).toMatchObject({ status: 0, detail: "the computer's answer broke off" });
  vi.useFakeTimers();
  vi.stubGlobal("fetch", (_: string, { signal }: RequestInit) => {
    return new Promise((_, failed) => signal?.addEventListener("abort", () => failed(signal.reason)));
  });
  const late = refused();
  await vi.advanceTimersByTimeAsync(30_000);
  expect((await late)?.problem).toMatchObject({ status: 0, detail: "the computer does not answer" });
});

it.each(["null", "7", '"no"', "{}", '{"code":7}'])("takes %s for no problem document", async (body) => {
  answer(new Response(body, { status: 500 }));
  expect((await refused())?.problem).toEqual({ status: 500, code: "internal", detail: "the server answered 500" });
});

it("leaves what a caller gave up, and what the reader says, as it is", async () => {
  const stop = new AbortController();
  vi.stubGlobal("fetch", (_: string, { signal }: RequestInit) => {
    return new Promise((_, failed) => signal?.addEventListener("abort", () => failed(signal.reason)));
  });
  const given = receive("/x", { signal: stop.signal }, (r) => r.text());
  stop.abort(new Error("another folder is shown"));
  await expect(given).rejects.toThrow("another folder is shown");
  answer(new Response("text"));
  await expect(receive("/x", {}, () => Promise.reject(new RangeError("too long")))).rejects.toThrow("too long");
});

it("sends the key that makes a repeat harmless", async () => {
  const fetch = answer(new Response(null, { status: 202 }));
  expect(await ask<"steerRun">("/x", { method: "POST", body: { text: "a" }, key: "once" })).toBeUndefined();
  const sent = fetch.mock.calls[0]?.[1];
  expect(new Headers(sent?.headers).get("Idempotency-Key")).toBe("once");
  expect(sent?.body).toBe('{"text":"a"}');
});
