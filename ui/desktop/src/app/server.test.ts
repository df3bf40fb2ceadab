// @vitest-environment happy-dom
import { act, fireEvent, render, screen } from "@testing-library/react";
import { createElement } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { cut, FakeServer, json, late, never, refused, strange } from "#base/transport/testing.ts";
import { clear, pass } from "../testing/page";
import { desk } from "../transport/desk";
import { App } from "./App";

vi.mock("../shell/Desk", () => ({ Desk: () => createElement("p", {}, "the desktop") }));

const known = json({ seq: 1, windows: [], settings: [] });

let server: FakeServer;

beforeEach(() => {
  vi.useFakeTimers();
  server = new FakeServer().on("GET /desktop", known);
});
afterEach(clear);

async function open(): Promise<void> {
  const first = desk.state();
  first.catch(() => undefined);
  await act(async () => {
    render(createElement(App, { first }));
  });
  await pass(100);
}

it("a desktop that comes late is drawn once it is known, and nothing before", async () => {
  const slow = late(known);
  server.on("GET /desktop", slow.reply);
  await open();
  expect(document.body.textContent).toBe("");
  await pass(8_000);
  expect(document.body.textContent).toBe("The computer has not answered yet.");
  slow.answer();
  await pass(100);
  expect(screen.getByText("the desktop")).toBeDefined();
});

it.each([
  ["never comes", never, "The computer does not answer"],
  ["breaks off", cut, "The computer's answer broke off"],
  ["is refused", refused(500, "internal", "the disk made a noise"), "The disk made a noise"],
  ["is something else", strange(), "The computer's answer cannot be read"],
])("a desktop that %s is told, and can be asked for again", async (_, reply, words) => {
  server.on("GET /desktop", reply);
  await open();
  await pass(31_000);
  expect(screen.getByRole("alert").textContent).toContain(words);
  server.on("GET /desktop", known);
  fireEvent.click(screen.getByText("Try again"));
  await pass(100);
  expect(screen.getByText("the desktop")).toBeDefined();
});
