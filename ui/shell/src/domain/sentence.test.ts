import { expect, it } from "vitest";
import type { Event } from "#base/domain/contracts.ts";
import { event } from "#base/domain/testing.ts";
import { sentenceOf, terminalsEnd, toolWords } from "./sentence";

it("says what happened, shortened", () => {
  expect(sentenceOf(event(1, "prompt.submitted", { text: `a\n${"b".repeat(300)}` }))).toHaveLength(
    "You asked: ".length + 160,
  );
});

it("never calls what is unknown verified", () => {
  const base = { version: 1, status: "ok", verify: { mode: "smoke", status: "unknown" } };
  const returned = { type: "task.returned", payload: { result: base } } as unknown as Event;
  expect(sentenceOf(returned)).toBe("The task came back done, not verified");
});

it("says where a package came from", () => {
  const passed = { host: "a.test", port: 443, sent: 1000, received: 2000, ms: 1 };
  expect(sentenceOf(event(1, "egress.passed", passed))).toMatch(/^a.test was reached/);
  expect(sentenceOf(event(1, "egress.passed", { ...passed, cached: true }))).toBe(
    "2 kB of a.test came from the package cache",
  );
  const refused = { host: "a.test", port: 443, policy: "git+pkg" as const, why: "digest" as const };
  expect(sentenceOf(event(1, "egress.refused", refused))).toBe(
    "a.test gave content with a false digest, so it was refused",
  );
});

it("names a type it does not know", () => {
  expect(sentenceOf({ type: "later.added", payload: {} } as unknown as Event)).toBe("later.added");
});

it("tells tools apart", () => {
  expect(toolWords("bash", { command: "make test" })).toBe("ran make test");
  expect(toolWords("verify", { command: "make test" })).toBe("checked with make test");
  expect(toolWords("new_tool", {})).toBe("used new_tool");
});

it("says that open terminals will end, and nothing when none is open", () => {
  expect([undefined, 0, 1, 2].map((open) => terminalsEnd(open))).toEqual([
    undefined,
    undefined,
    "1 terminal is open and will end, with what runs in it.",
    "2 terminals are open and will end, with what runs in them.",
  ]);
});
