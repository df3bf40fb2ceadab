// @vitest-environment happy-dom
import { fireEvent, screen } from "@testing-library/react";
import { createElement } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { cut, FakeServer, never, type Reply, refused } from "#base/transport/testing.ts";
import { clear, pass, show } from "../testing/page";
import { TextHead } from "./TextHead";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(clear);

const beginning: Reply = () => new Response("first words", { status: 206 });

it.each([
  ["is refused", refused(500, "internal", "the disk made a noise"), "The disk made a noise"],
  ["breaks off", cut, "The computer's answer broke off"],
  ["never comes", never, "The computer does not answer"],
])("the beginning of a file that %s is not shown as empty, and can be asked for again", async (_, reply, words) => {
  const server = new FakeServer().on("GET /files/a.txt", reply);
  show(() => createElement(TextHead, { path: "a.txt", version: "1" }));
  await pass(31_000);
  expect(screen.getByRole("alert").textContent).toContain(words);
  server.on("GET /files/a.txt", beginning);
  fireEvent.click(screen.getByText("Try again"));
  await pass(100);
  expect(screen.getByText("first words")).toBeDefined();
});
