import { afterEach, expect, it, vi } from "vitest";
import { Refusal } from "../domain/problem";
import { ask } from "./http";

afterEach(() => vi.unstubAllGlobals());

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

it("sends the key that makes a repeat harmless", async () => {
  const fetch = answer(new Response(null, { status: 202 }));
  expect(await ask<"steerRun">("/x", { method: "POST", body: { text: "a" }, key: "once" })).toBeUndefined();
  const sent = fetch.mock.calls[0]?.[1];
  expect(new Headers(sent?.headers).get("Idempotency-Key")).toBe("once");
  expect(sent?.body).toBe('{"text":"a"}');
});
