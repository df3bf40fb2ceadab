// @vitest-environment happy-dom
import { fireEvent, screen } from "@testing-library/react";
import { createElement } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cut, FakeServer, json, late, never, type Reply, refused, strange } from "#base/transport/testing.ts";
import { clear, pass, show, told } from "../testing/page";
import { Asks } from "./cards/Asks";
import { PromptBar } from "./PromptBar";

const RUN = "0198aaaa-0000-7000-8000-000000000006";
const draft = { app: "prompt", subject: "", revision: 0, size: 0, at: "2026-11-21T02:28:00.000Z" };
const accepted = json({ run: RUN, seq: 7 }, 202);

let server: FakeServer;

beforeEach(() => {
  vi.useFakeTimers();
  server = new FakeServer()
    .on("GET /drafts/prompt", json(draft))
    .on("PUT /drafts/prompt", json({ ...draft, revision: 1 }));
});
afterEach(clear);

/** What goes wrong with an answer, and what is told of it. */
const wrong: [how: string, reply: Reply, words: string][] = [
  ["never comes", never, "The computer does not answer"],
  ["is a refusal", refused(500, "internal", "the disk made a noise"), "The disk made a noise"],
  ["is a conflict", refused(409, "conflict", "another run works"), "Another run works"],
  ["is something else", strange(502), "The server answered 502"],
  ["breaks off", cut, "The computer's answer broke off"],
];

describe("the prompt", () => {
  const field = () => screen.getByRole<HTMLTextAreaElement>("textbox");
  const button = () => screen.getByLabelText<HTMLButtonElement>("Send");
  const send = async (words: string) => {
    fireEvent.change(field(), { target: { value: words } });
    fireEvent.click(button());
    await pass(100);
  };

  it("keeps its words until a late answer, and sends them once", async () => {
    const slow = late(accepted);
    server.on("POST /prompts", slow.reply);
    show(PromptBar);
    await send("Do it");
    fireEvent.click(button());
    expect(field().value).toBe("Do it");
    expect(button().disabled).toBe(true);
    slow.answer();
    await pass(100);
    expect(field().value).toBe("");
    expect(server.asked.filter((a) => a.startsWith("POST") && a.endsWith("/prompts"))).toHaveLength(1);
  });

  it.each(wrong)("whose answer %s keeps its words, says why, and can be sent again", async (_, reply, words) => {
    const keys: (string | null)[] = [];
    const watched = (reply: Reply): Reply => {
      return (request) => {
        keys.push(request.headers.get("Idempotency-Key"));
        return reply(request);
      };
    };
    server.on("POST /prompts", watched(reply));
    show(PromptBar);
    await send("Do it");
    await pass(21_000);
    expect(told).toContain(words);
    expect(field().value).toBe("Do it");
    server.on("POST /prompts", watched(accepted));
    fireEvent.click(button());
    await pass(100);
    expect(field().value).toBe("");
    // The same key: the server begins one run, even when the first did arrive.
    expect(new Set(keys).size).toBe(1);
  });
});

describe("the answer to a question", () => {
  const card = () =>
    createElement(Asks, { run: RUN, question: { id: "q", text: "Which one?", choices: ["This one"] } });
  const choose = () => fireEvent.click(screen.getByText("This one"));
  const mayChoose = () => !screen.getByText<HTMLButtonElement>("This one").disabled;

  it("that is acknowledged late cannot be given twice", async () => {
    const slow = late(json({}, 202));
    server.on("POST /answers", slow.reply);
    show(card);
    choose();
    await pass(100);
    expect(mayChoose()).toBe(false);
    slow.answer();
    await pass(100);
    expect(told).toEqual([]);
  });

  it.each(wrong)("whose acknowledgement %s is told, and can be given again", async (_, reply, words) => {
    server.on("POST /answers", reply);
    show(card);
    choose();
    await pass(21_000);
    expect(told).toContain(words);
    expect(mayChoose()).toBe(true);
  });
});
