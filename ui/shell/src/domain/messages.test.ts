import { expect, it } from "vitest";
import { RUN } from "#base/domain/testing.ts";
import { readMessage, writeMessage } from "./messages";

it.each([
  [{ choir: 1, kind: "ready" }, { kind: "ready" }],
  [
    { choir: 1, kind: "ready", launcher: true },
    { kind: "ready", launcher: true },
  ],
  [{ choir: 1, kind: "ready", launcher: "yes" }, { kind: "ready" }],
  [{ choir: 1, kind: "leave" }, { kind: "leave" }],
  [
    { choir: 1, kind: "chord", chord: "stop" },
    { kind: "chord", chord: "stop" },
  ],
  [
    { choir: 1, kind: "open", page: "timeline", seq: 7 },
    { kind: "open", route: { page: "time", seq: 7 } },
  ],
  [
    { choir: 1, kind: "open", page: "models" },
    { kind: "open", route: { page: "models", section: "models" } },
  ],
  [
    { choir: 1, kind: "open", page: "secrets" },
    { kind: "open", route: { page: "models", section: "keys" } },
  ],
  [
    { choir: 1, kind: "open", page: "keys" },
    { kind: "open", route: { page: "models", section: "keys" } },
  ],
  [
    { choir: 1, kind: "open", page: "runs" },
    { kind: "open", route: { page: "runs" } },
  ],
  [
    { choir: 1, kind: "open", page: "timeline", seq: 7, back: true },
    { kind: "open", route: { page: "time", seq: 7, back: true } },
  ],
  [
    { choir: 1, kind: "open", page: "limits" },
    { kind: "open", route: { page: "models", section: "limits" } },
  ],
  [
    { choir: 1, kind: "open", page: "undo", run: RUN },
    { kind: "open", route: { page: "run", run: RUN, undo: true } },
  ],
  [
    { choir: 1, kind: "draft", text: "half a" },
    { kind: "draft", text: "half a" },
  ],
  [
    { choir: 1, kind: "hold", name: "code a", text: "{}" },
    { kind: "hold", name: "code a", text: "{}" },
  ],
  [
    { choir: 1, kind: "link", address: "https://go.dev/a b?\u202e" },
    { kind: "link", address: "https://go.dev/a%20b?%E2%80%AE" },
  ],
  [
    { choir: 1, kind: "link", address: "http://gr\u00fc\u00dfe.test/" },
    { kind: "link", address: "http://xn--gre-6ka8l.test/" },
  ],
])("reads %o", (data, message) => expect(readMessage(data)).toEqual(message));

it.each([
  undefined,
  null,
  "ready",
  [],
  {},
  { kind: "ready" },
  { choir: 2, kind: "ready" },
  { choir: 1, kind: "rewind", to_seq: 1 },
  { choir: 1, kind: "chord", chord: "approve" },
  { choir: 1, kind: "open", page: "login" },
  { choir: 1, kind: "open", page: "undo" },
  { choir: 1, kind: "open", page: "undo", run: "../settings/models" },
  { choir: 1, kind: "open", page: "undo", run: `${RUN}/undo` },
  { choir: 1, kind: "open", page: "constructor" },
  { choir: 1, kind: "open", page: "https://evil.example" },
  { choir: 1, kind: "draft", text: 1 },
  { choir: 1, kind: "hold", name: "a" },
  { choir: 1, kind: "hold", text: "a" },
  { choir: 1, kind: "hold", name: "a", text: "x".repeat(500_001) },
  { choir: 1, kind: "hold", name: "x".repeat(5_001), text: "" },
  { choir: 1, kind: "link" },
  { choir: 1, kind: "link", address: "javascript:alert(1)" },
  { choir: 1, kind: "link", address: "data:text/html,x" },
  { choir: 1, kind: "link", address: "/settings" },
  { choir: 1, kind: "link", address: "http://choir.localhost@evil.example/" },
  { choir: 1, kind: "link", address: `http://a.test/${"x".repeat(2000)}` },
  { choir: 1, kind: "draft", text: "x".repeat(100_001) },
])("makes nothing of %o", (data) => expect(readMessage(data)).toBeUndefined());

it.each([-1, 0, 1.5, "7", 2 ** 60])("goes to no moment called %o", (seq) =>
  expect(readMessage({ choir: 1, kind: "open", page: "timeline", seq })).toEqual({
    kind: "open",
    route: { page: "time" },
  }),
);

it("marks what it says", () => expect(writeMessage({ kind: "focus" })).toEqual({ choir: 1, kind: "focus" }));
