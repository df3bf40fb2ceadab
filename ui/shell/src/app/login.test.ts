// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { createElement } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cut, FakeServer, json, late, never, type Reply, refused, strange } from "#base/transport/testing.ts";
import { useStore } from "../state/store";
import { arrive } from "../transport/arrival";
import { App } from "./App";
// Loaded before it is wanted, so that no test waits for the disk.
import "../apps/login/Login";

vi.mock("./Desk", () => ({ Desk: () => createElement("p", {}, "the desktop") }));
vi.mock("#base/kit/Messages.tsx", () => ({ Messages: () => null }));

const computer = {
  id: "0198aaaa-0000-7000-8000-000000000007",
  name: "Mine",
  user: "0198aaaa-0000-7000-8000-000000000008",
  head: 0,
  isolation: [],
  models: { connected: false, message: "" },
};
const LOGIN = "POST /auth/login";
const LIST = "GET /api/computers";
const done: Reply = () => new Response(null, { status: 204 });
const nobody = refused(401, "unauthenticated", "nobody is logged in");

let server: FakeServer;

beforeEach(() => {
  vi.useFakeTimers();
  useStore.setState({ route: { page: "login" } });
  server = new FakeServer().on(LIST, json([computer])).on(LOGIN, done);
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
const words = () => document.body.textContent;

async function come(address: string): Promise<void> {
  history.replaceState(null, "", address);
  const arrival = arrive(() => undefined);
  // What nobody waits for any more may fail.
  arrival.computers.catch(() => undefined);
  render(createElement(App, { arrival }));
  await pass(100);
}

describe("a login link", () => {
  it("whose answer comes late opens the desktop then", async () => {
    const slow = late(done);
    server.on(LOGIN, slow.reply);
    await come("/login#secret");
    expect(words()).toBe("");
    slow.answer();
    await pass(100);
    expect(words()).toBe("the desktop");
  });

  it.each([
    ["never comes", never, "The computer does not answer"],
    ["breaks off", (() => Promise.reject(new TypeError("network error"))) as Reply, "The computer cannot be reached"],
  ])("whose answer %s is not told to be refused, and can be used again", async (_, reply, told) => {
    server.on(LOGIN, reply).on(LIST, nobody);
    await come("/login#secret");
    await pass(21_000);
    expect(screen.getByRole("alert").textContent).toContain(told);
    expect(words()).not.toContain("not logged in");
    server.on(LOGIN, done).on(LIST, json([computer]));
    fireEvent.click(screen.getByText("Try again"));
    await pass(100);
    expect(words()).toBe("the desktop");
  });

  it.each([
    ["a used link", refused(401, "unauthenticated", "this link was used"), "This link was used"],
    ["a failure", refused(500, "internal", "the disk made a noise"), "The disk made a noise"],
    ["something else than choir", strange(502), "The server answered 502"],
  ])("refused for %s leads to the login page, which says why", async (_, reply, why) => {
    server.on(LOGIN, reply).on(LIST, nobody);
    await come("/login#secret");
    await pass(100);
    expect(screen.getByRole("alert").textContent).toContain(why);
    expect(words()).toContain("You are not logged in");
  });
});

describe("a page without a link", () => {
  it.each([
    ["does not answer", never, "The computer does not answer"],
    ["answers by half", cut, "The computer's answer broke off"],
    ["answers with something else", strange(), "The computer's answer cannot be read"],
  ])("whose server %s says so, and tries again", async (_, reply, why) => {
    server.on(LIST, reply);
    await come("/");
    await pass(9_000);
    expect(screen.getByRole("alert").textContent).toContain(why);
    server.on(LIST, json([computer]));
    fireEvent.click(screen.getByText("Try again"));
    await pass(100);
    expect(words()).toBe("the desktop");
  });
});
