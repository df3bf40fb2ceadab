// @vitest-environment happy-dom
import { fireEvent, screen } from "@testing-library/react";
import { createElement } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cut, FakeServer, json, late, never, refused, strange } from "#base/transport/testing.ts";
import { clear, pass, show, told } from "../../testing/page";
import Terminal from "./App";

vi.mock("./Shell", () => ({ Shell: ({ title }: { title: string }) => createElement("pre", {}, `screen of ${title}`) }));

const ONE = {
  terminal: "0198aaaa-0000-7000-8000-000000000003",
  title: "Shell 1",
  cwd: "workspace",
  opened: "2026-11-21T02:28:00.000Z",
  size: { rows: 24, cols: 80 },
  viewers: 1,
};

let server: FakeServer;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", class {});
  server = new FakeServer().on("GET /terminals", json([]));
});
afterEach(clear);

const open = async (subject = "") => {
  show(Terminal, subject, "terminal");
  await pass(100);
  await pass(100);
};
const alert = () => screen.getByRole("alert").textContent;
const again = () => fireEvent.click(screen.getByText("Try again"));

describe("the list of terminals", () => {
  it("that comes late is told to open, and shows one once it came", async () => {
    const slow = late(json([ONE]));
    server.on("GET /terminals", slow.reply);
    await open(`terminal:${ONE.terminal}`);
    expect(screen.getByRole("status").textContent).toContain("The terminal opens");
    slow.answer();
    await pass(100);
    expect(screen.getByText("screen of Shell 1")).toBeDefined();
  });

  it.each([
    ["never comes", never, "The computer does not answer"],
    ["breaks off", cut, "The computer's answer broke off"],
    ["is something else", strange(), "The computer's answer cannot be read"],
  ])("that %s says so, and can be asked for again", async (_, reply, words) => {
    server.on("GET /terminals", reply);
    await open(`terminal:${ONE.terminal}`);
    await pass(31_000);
    expect(alert()).toContain(words);
    server.on("GET /terminals", json([ONE]));
    again();
    await pass(100);
    expect(screen.getByText("screen of Shell 1")).toBeDefined();
  });
});

describe("a new terminal", () => {
  it.each([
    ["is refused", refused(409, "conflict", "there are too many"), "There are too many"],
    ["is refused by a failure", refused(500, "internal", "the disk made a noise"), "The disk made a noise"],
    ["never opens", never, "The computer does not answer"],
  ])("that %s says so, and can be tried again", async (_, reply, words) => {
    server.on("POST /terminals", reply);
    await open();
    await pass(21_000);
    expect(alert()).toContain(words);
    server.on("POST /terminals", json(ONE, 201));
    again();
    await pass(100);
    expect(screen.queryByRole("alert")).toBeNull();
  });
});

it("a terminal that could not be closed is still told to be there", async () => {
  server.on("GET /terminals", json([ONE]));
  await open(`terminal:${ONE.terminal}`);
  server.on(`DELETE /terminals/${ONE.terminal}`, refused(500, "internal", "the disk made a noise"));
  fireEvent.click(screen.getByLabelText(/^Close/));
  await pass(100);
  expect(screen.getByText("screen of Shell 1")).toBeDefined();
  expect(told).toEqual(["The disk made a noise"]);
});
