import { expect, it, vi } from "vitest";
import { type Matter, offers, offersFor, promptOf, take } from "./offers";

const id = "01900000-0000-7000-8000-00000000000a";
const matters: Matter[] = [
  { kind: "document", id, title: "Plan", text: "words ".repeat(5000) },
  { kind: "file", path: "workspace/a.go" },
  { kind: "selection", of: "the document “Plan”", text: "some words" },
  { kind: "terminal", title: "sh", output: "x".repeat(100_000) },
  { kind: "run", id, prompt: "do it".repeat(4000), failed: true, answer: "it broke" },
];

it("offers at least two things for every matter, and no more than a prompt can hold", () => {
  for (const matter of matters) {
    const offered = offersFor(matter);
    expect(offered.length, matter.kind).toBeGreaterThanOrEqual(2);
    for (const offer of offered) {
      const order = offer.order?.(matter);
      if (!order) continue;
      expect(order.criteria.length).toBeGreaterThan(0);
      const prompt = promptOf(order);
      expect(prompt.length, `${offer.id} of ${matter.kind}`).toBeLessThan(20_000);
      expect(prompt).toContain(order.instruction);
      for (const c of order.criteria) expect(prompt).toContain(`- ${c}`);
    }
  }
});

it("offers nothing that makes no sense", () => {
  const of = (m: Matter) => offersFor(m).map((o) => o.id);
  expect(of({ kind: "document", id, title: "Plan", text: "x" })).toEqual(["summarize", "explain", "continue"]);
  expect(of({ kind: "run", id, prompt: "x", failed: false, answer: "" })).not.toContain("fix");
  expect(of({ kind: "run", id, prompt: "x", failed: true, answer: "" })).toContain("fix");
  expect(of({ kind: "file", path: "a" })).toEqual(["summarize", "explain", "fix", "compare", "undo"]);
});

it("sends the order as one prompt, and asks the shell for what only it may do", async () => {
  const prompt = vi.fn(async () => id);
  const file: Matter = { kind: "file", path: "a" };
  const [summarize] = offers;
  const undo = offers.find((o) => o.id === "undo");
  if (!summarize || !undo) throw new Error("they are gone");
  expect(await take(summarize, file, { prompt })).toBe(true);
  expect(prompt).toHaveBeenCalledWith(expect.stringContaining("the file a"), expect.any(String), {});
  const parent = { postMessage: vi.fn() };
  vi.stubGlobal("window", { parent });
  expect(await take(undo, file, { prompt })).toBe(false);
  expect(parent.postMessage).toHaveBeenCalledWith({ choir: 1, kind: "open", page: "timeline" }, expect.anything());
  expect(prompt).toHaveBeenCalledTimes(1);
  vi.unstubAllGlobals();
});

it("has what continues or corrects a text proposed over its document", async () => {
  const prompt = vi.fn(async () => id);
  const behind = { document: id, version: 2, anchor: { prefix: "before" } };
  const instead = { document: id, version: 2, anchor: { exact: "some words" } };
  const propose = (how: "instead" | "behind") => (how === "behind" ? behind : instead);
  const selection: Matter = { kind: "selection", of: "the document “Plan”", text: "some words", propose };
  const offered = offersFor(selection);
  expect(offered.map((o) => o.id)).toEqual(["summarize", "explain", "fix", "continue"]);
  for (const offer of offered) await take(offer, selection, { prompt });
  const targets = prompt.mock.calls.map((call: unknown[]) => call[2]);
  expect(targets).toEqual([{}, {}, { proposal: instead }, { proposal: behind }]);
});

it("does not offer to correct what an answer has no room for, or has nothing to be proposed over", () => {
  const of = (text: string, given: Partial<Matter> = {}) =>
    offersFor({ kind: "document", id, title: "Plan", text, ...given } as Matter).map((o) => o.id);
  const propose = () => ({ document: id, version: 2, anchor: {} });
  expect(of("a text", { propose })).toContain("fix");
  expect(of("a text")).not.toContain("fix");
  expect(of(" ", { propose })).not.toContain("fix");
  expect(of("x".repeat(12_001), { propose })).not.toContain("fix");
});
