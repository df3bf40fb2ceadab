// @vitest-environment happy-dom
import { fireEvent, screen } from "@testing-library/react";
import { createElement } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cut, FakeServer, json, late, never, refused, strange } from "#base/transport/testing.ts";
import { clear, pass, show, told } from "../../testing/page";
import Writer from "./App";

vi.mock("./Editor", () => ({
  Editor: ({ text, label, onText }: { text: string; label: string; onText(text: string): void }) =>
    createElement("textarea", {
      "aria-label": label,
      value: text,
      onChange: (e: { target: { value: string } }) => onText(e.target.value),
    }),
}));

const ID = "0198aaaa-0000-7000-8000-000000000002";
const AT = "2026-11-21T02:28:00.000Z";
const version = (n: number, content: string) => ({
  id: ID,
  run: "",
  title: "Plan",
  version: n,
  seq: n,
  by: "user",
  at: AT,
  content,
});
const LATEST = `GET /documents/${ID}`;
const SAVE = `PUT /documents/${ID}/versions/3`;

let server: FakeServer;

beforeEach(() => {
  vi.useFakeTimers();
  server = new FakeServer()
    .on("GET /drafts/writer", json({ app: "writer", subject: "", revision: 0, size: 0, at: AT }))
    .on("PUT /drafts/writer", json({ app: "writer", subject: "", revision: 1, size: 0, at: AT }))
    .on(LATEST, json(version(2, "two")))
    .on(`GET /documents/${ID}/versions`, json([version(1, "one"), version(2, "two")]));
});
afterEach(clear);

const text = () => screen.getByLabelText<HTMLTextAreaElement>("Text of the document");
const state = () => screen.getAllByRole("status").map((s) => s.textContent);
const write = (words: string) => fireEvent.change(text(), { target: { value: words } });
const open = async () => {
  show(Writer, `document:${ID}`, "writer");
  // The editor is fetched beside the document, in two parts.
  await vi.dynamicImportSettled();
  await pass(100);
  await vi.dynamicImportSettled();
  await shown();
};
/** What a document is drawn of comes one after the other, once it is there. */
const shown = async () => {
  for (let n = 0; n < 4; n++) await pass(100);
};

describe("a document", () => {
  it("that comes late is loading, and there once it came", async () => {
    const slow = late(json(version(2, "two")));
    server.on(LATEST, slow.reply);
    await open();
    expect(state()).toEqual(["Loading…"]);
    slow.answer();
    await shown();
    expect(text().value).toBe("two");
  });

  it("that never comes is given up, and can be asked for again", async () => {
    server.on(LATEST, never);
    await open();
    await pass(31_000);
    expect(screen.getByRole("alert").textContent).toContain("The computer does not answer");
    server.on(LATEST, json(version(2, "two")));
    fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    await shown();
    expect(text().value).toBe("two");
  });

  it("of which an earlier version cannot be read says so", async () => {
    await open();
    server.on(LATEST, refused(500, "internal", "the disk made a noise"));
    fireEvent.click(screen.getByRole("button", { name: "The version before" }));
    await pass(100);
    expect(screen.getByRole("alert").textContent).toContain("The disk made a noise");
  });
});

describe("a save", () => {
  it.each([
    ["is never answered", never],
    ["is answered by half", cut],
  ])("that %s is tried again until it is answered", async (_, reply) => {
    server.on(SAVE, reply);
    await open();
    write("two and more");
    await pass(62_000);
    expect(state()).toContain("Not connected: your text is kept here and sent later");
    server.on(SAVE, json(version(3, "two and more")));
    await pass(70_000);
    expect(state()).toContain("Saved");
    expect(text().value).toBe("two and more");
    expect(told).toEqual([]);
  });

  it("whose answer did not come, and that was done, is no conflict", async () => {
    server.on(SAVE, cut);
    await open();
    write("two and more");
    await pass(2_000);
    server.on(SAVE, refused(409, "conflict", "version 3 is the newest")).on(LATEST, json(version(3, "two and more")));
    await pass(70_000);
    expect(state()).toContain("Saved");
    expect(screen.queryByText("Keep mine")).toBeNull();
  });

  it("over somebody else's version asks which one stays", async () => {
    await open();
    server
      .on(SAVE, refused(409, "conflict", "version 3 is the newest"))
      .on(LATEST, json({ ...version(3, "three"), by: "director" }));
    write("mine");
    await pass(2_000);
    expect(screen.getByText("Keep mine")).toBeDefined();
    expect(text().value).toBe("mine");
  });

  it("that is answered with something else is told, and the text stays", async () => {
    server.on(SAVE, strange());
    await open();
    write("two and more");
    await pass(2_000);
    expect(told).toContain("The computer's answer cannot be read");
    expect(text().value).toBe("two and more");
    expect(state()).toContain("Not saved yet");
  });
});

describe("comments", () => {
  const side = () => fireEvent.click(screen.getByRole("button", { name: "Comments and proposals" }));

  it("that cannot be read are not told as none", async () => {
    server.on("GET /overlays", refused(500, "internal", "the disk made a noise"));
    await open();
    side();
    await pass(100);
    expect(screen.queryByText("No comments and no proposals.")).toBeNull();
    expect(screen.getByRole("alert").textContent).toContain("The disk made a noise");
  });

  it("that are refused stay in their field", async () => {
    server.on("POST /overlays", refused(500, "internal", "the disk made a noise"));
    await open();
    side();
    await pass(100);
    const field = screen.getByLabelText<HTMLTextAreaElement>("What do you want to say?");
    fireEvent.change(field, { target: { value: "Why?" } });
    fireEvent.click(screen.getByRole("button", { name: "Comment" }));
    await pass(100);
    expect(field.value).toBe("Why?");
    expect(told).toContain("The disk made a noise");
  });
});
