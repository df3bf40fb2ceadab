// @vitest-environment happy-dom
import { fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cut, FakeServer, json, late, never, refused, strange } from "#base/transport/testing.ts";
import { clear, pass, show } from "../../testing/page";
import Settings from "./App";

const theme = { path: "choiros/themes/own.json", kind: "file", mode: 420, size: 3, mtime_ms: 1 };
const folder = json({ folder: { ...theme, kind: "dir", path: "choiros/themes" }, entries: [theme], more: false });
const computer = {
  id: "0198aaaa-0000-7000-8000-000000000004",
  name: "Mine",
  user: "0198aaaa-0000-7000-8000-000000000005",
  head: 1,
  isolation: [],
  models: { connected: false, message: "No model is connected." },
};

let server: FakeServer;

beforeEach(() => {
  vi.useFakeTimers();
  server = new FakeServer().on("GET /folder", refused(404, "not_found", "there is no choiros/themes"));
});
afterEach(clear);

const open = async (section?: string) => {
  show(Settings, "", "settings");
  if (section) fireEvent.click(screen.getByText(section));
  await pass(100);
};

describe("themes of the workspace", () => {
  it("that nobody made are no trouble", async () => {
    await open();
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it.each([
    ["are refused", refused(500, "internal", "the disk made a noise"), "The disk made a noise"],
    ["never come", never, "The computer does not answer"],
    ["break off", cut, "The computer's answer broke off"],
  ])("that %s are told, beside those that choir has", async (_, reply, words) => {
    server.on("GET /folder", reply);
    await open();
    await pass(31_000);
    expect(screen.getByRole("alert").textContent).toContain(words);
    expect(screen.getAllByRole("button", { pressed: false }).length).toBeGreaterThan(1);
  });

  it("of which a file cannot be read now are not told to be no themes", async () => {
    server.on("GET /folder", folder).on("GET /files/choiros/themes/own.json", refused(500, "internal", "a noise"));
    await open();
    await pass(100);
    expect(screen.queryByText(/is no theme/)).toBeNull();
    expect(screen.getByRole("alert").textContent).toContain("A noise");
  });
});

describe("what is known of the computer", () => {
  it("is loading while it comes late, and there then", async () => {
    const slow = late(json(computer));
    server.on("GET /computers/localhost", slow.reply);
    await open("About");
    expect(screen.getByText("Loading…")).toBeDefined();
    slow.answer();
    await pass(100);
    expect(screen.getByText("No model is connected.")).toBeDefined();
  });

  it.each([
    ["never comes", never, "The computer does not answer"],
    ["is something else", strange(), "The computer's answer cannot be read"],
  ])("says that it %s, and can be asked for again", async (_, reply, words) => {
    server.on("GET /computers/localhost", reply);
    await open("About");
    await pass(31_000);
    expect(screen.getByRole("alert").textContent).toContain(words);
    server.on("GET /computers/localhost", json(computer));
    fireEvent.click(screen.getByText("Try again"));
    await pass(100);
    expect(screen.getByText("No model is connected.")).toBeDefined();
  });
});
