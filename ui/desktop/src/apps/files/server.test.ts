// @vitest-environment happy-dom
import { fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cut, FakeServer, json, late, never, refused, strange } from "#base/transport/testing.ts";
import { clear, pass, show } from "../../testing/page";
import Files from "./App";

const entry = (path: string) => ({ path, kind: "file", mode: 420, size: 3, mtime_ms: 1 });
const folder = json({
  folder: { ...entry(""), kind: "dir" },
  entries: [entry("p/.git"), entry("a.txt"), entry("b.txt")],
  more: false,
});

let server: FakeServer;

beforeEach(() => {
  vi.useFakeTimers();
  server = new FakeServer();
});
afterEach(clear);

describe("a folder", () => {
  it("that comes late is loading, says so after a while, and is listed then", async () => {
    const slow = late(folder);
    server.on("GET /folder", slow.reply);
    show(Files);
    await pass(100);
    expect(screen.getByText("Loading…")).toBeDefined();
    expect(screen.queryByText("0 entries")).toBeNull();
    await pass(8_000);
    expect(screen.getByText("The computer has not answered yet.")).toBeDefined();
    slow.answer();
    await pass(100);
    expect(screen.getByText("b.txt")).toBeDefined();
    expect(screen.queryByText(".git"), "what is git's").toBeNull();
  });

  it("that never comes is given up, and can be asked for again", async () => {
    server.on("GET /folder", never);
    show(Files);
    await pass(31_000);
    expect(screen.getByText("The computer does not answer")).toBeDefined();
    server.on("GET /folder", folder);
    fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    await pass(100);
    expect(screen.getByText("a.txt")).toBeDefined();
  });

  it.each([
    ["a refusal", refused(500, "internal", "the disk made a noise"), "The disk made a noise"],
    ["something that is no problem document", strange(502), "The server answered 502"],
    ["something that is no JSON", strange(), "The computer's answer cannot be read"],
    ["an answer that breaks off", cut, "The computer's answer broke off"],
  ])("whose answer is %s says what is wrong in words", async (_, reply, words) => {
    server.on("GET /folder", reply);
    show(Files);
    await pass(100);
    expect(screen.getByRole("alert").textContent).toContain(words);
  });
});
