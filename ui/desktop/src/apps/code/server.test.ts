// @vitest-environment happy-dom
import { fireEvent, screen } from "@testing-library/react";
import { createElement } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cut, FakeServer, json, late, never, type Reply, refused, strange } from "#base/transport/testing.ts";
import { clear, pass, show, told } from "../../testing/page";
import Code from "./App";

vi.mock("./Editor", () => ({
  default: ({ text, label, onText }: { text: string; label: string; onText(text: string): void }) =>
    createElement("textarea", {
      "aria-label": label,
      value: text,
      onChange: (e: { target: { value: string } }) => onText(e.target.value),
    }),
}));
vi.mock("./Merge", () => ({ default: () => null }));

const file = (content: string, digest: string): Reply => {
  return () => new Response(content, { headers: { ETag: `"${digest}"`, "Content-Length": String(content.length) } });
};
const READ = "GET /files/a.txt";
const SAVE = "PUT /files/a.txt";

let server: FakeServer;

beforeEach(() => {
  vi.useFakeTimers();
  const draft = { app: "code", subject: "a.txt", size: 0, at: "2026-11-21T02:28:00.000Z" };
  server = new FakeServer()
    .on("GET /drafts/code", json({ ...draft, revision: 0 }))
    .on("PUT /drafts/code", json({ ...draft, revision: 1 }))
    .on(READ, file("one", "d1"));
});
afterEach(clear);

const text = () => screen.getByLabelText<HTMLTextAreaElement>(/a\.txt/);
const write = (words: string) => fireEvent.change(text(), { target: { value: words } });
const save = () => fireEvent.click(screen.getByRole("button", { name: "Save" }));
const state = () => screen.getAllByRole("status").map((s) => s.textContent);
const open = async () => {
  show(Code, "a.txt", "code");
  // The editor is fetched beside the file.
  await vi.dynamicImportSettled();
  await pass(100);
};

describe("a file", () => {
  it("that comes late is loading, and there once it came", async () => {
    const slow = late(file("one", "d1"));
    server.on(READ, slow.reply);
    await open();
    expect(state()).toEqual(["Loading…"]);
    slow.answer();
    await pass(100);
    expect(text().value).toBe("one");
  });

  it.each([
    ["never comes", never, "The computer does not answer"],
    ["breaks off", cut, "The computer's answer broke off"],
    ["is refused", refused(500, "internal", "the disk made a noise"), "The disk made a noise"],
    ["is refused in other words than choir's", strange(502), "The server answered 502"],
  ])("that %s says so, and can be asked for again", async (_, reply, words) => {
    server.on(READ, reply);
    await open();
    await pass(61_000);
    expect(screen.getByRole("alert").textContent).toContain(words);
    server.on(READ, file("one", "d1"));
    fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    await pass(100);
    expect(text().value).toBe("one");
  });
});

describe("a save", () => {
  it.each([
    ["is never answered", never, "The computer does not answer"],
    ["is answered by half", cut, "The computer's answer broke off"],
    ["is refused", refused(500, "internal", "the disk made a noise"), "The disk made a noise"],
    ["is answered with something else", strange(), "The computer's answer cannot be read"],
  ])("that %s is told, and can be made again", async (_, reply, words) => {
    server.on(SAVE, reply);
    await open();
    write("one and more");
    save();
    await pass(61_000);
    expect(told).toContain(words);
    expect(state()).toContain("Not saved");
    server.on(SAVE, json({ path: "a.txt", kind: "file", digest: "d2", mode: 420, size: 12, mtime_ms: 1 }));
    save();
    await pass(100);
    expect(state()).toContain("Saved");
  });

  it("over another file asks which one stays", async () => {
    await open();
    write("mine");
    server.on(SAVE, refused(409, "conflict", "it is another file")).on(READ, file("theirs", "d3"));
    save();
    await pass(100);
    expect(screen.getByText("Keep mine")).toBeDefined();
    expect(screen.queryByText("Saving…")).toBeNull();
  });

  it("over another file that cannot be read is told, and can be made again", async () => {
    await open();
    write("mine");
    server.on(SAVE, refused(409, "conflict", "it is another file")).on(READ, refused(500, "internal", "a noise"));
    save();
    await pass(100);
    expect(told).toContain("It is another file");
    expect(state()).toContain("Not saved");
  });

  it("whose answer did not come, and that was done, is no conflict", async () => {
    await open();
    write("one and more");
    server.on(SAVE, cut);
    save();
    await pass(100);
    server.on(SAVE, refused(409, "conflict", "it is another file")).on(READ, file("one and more", "d2"));
    save();
    await pass(100);
    expect(state()).toContain("Saved");
    expect(screen.queryByText("Keep mine")).toBeNull();
  });
});
