import { expect, it } from "vitest";
import { emptyForm, modelsOf, nameFor, priceAsked, requestOf, services, testWords } from "./connect";
import type { Settings } from "./settings";

const known = [
  { model: "claude-sonnet-4-5", input: 3, output: 15 },
  { model: "gpt-5", input: 1.25, output: 10 },
  { model: "glm-4.6", input: 0.6, output: 2.2 },
];

it("offers each model with a known price at one service", () => {
  const offered = services.flatMap((s) => modelsOf(s.id, known).map((k) => `${s.id} ${k.model}`));
  expect(offered).toEqual(["anthropic claude-sonnet-4-5", "openai gpt-5", "compatible glm-4.6"]);
});

it.each([
  ["claude-sonnet-4-5", false],
  ["claude-sonnet-4-5-20250929", false],
  ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", false],
  ["z-ai/glm-4.6", false],
  ["llama3.3", true],
  ["", false],
])("asks for the price of %s: %s", (model, asked) => {
  expect(priceAsked({ ...emptyForm("compatible"), model }, known)).toBe(asked);
  expect(priceAsked({ ...emptyForm("compatible"), model, free: true }, known)).toBe(false);
});

it.each([
  ["anthropic", "", "anthropic"],
  ["anthropic", "https://proxy.example", "anthropic"],
  ["compatible", "http://127.0.0.1:11434/v1", "127.0.0.1-11434"],
  ["compatible", "https://OpenRouter.ai/api/v1", "openrouter.ai"],
  ["compatible", "http://[::1]:8080/v1", "1-8080"],
  ["compatible", "nowhere", "compatible"],
] as const)("names a connection: %s at %s", (service, address, name) => {
  expect(nameFor({ ...emptyForm(service), address })).toBe(name);
  expect(name).toMatch(/^[a-z0-9][a-z0-9.-]{0,63}$/);
});

it("asks for what stands in the form and for nothing else", () => {
  const form = { ...emptyForm("anthropic"), input: "1", output: "", address: "  " };
  expect(requestOf(form, " sk-a \n", "c1", false)).toEqual({
    name: "anthropic",
    kind: "anthropic",
    model: "claude-sonnet-4-5",
    uses: ["director", "associate"],
    key: "sk-a",
    computer: "c1",
  });
  const local = {
    ...emptyForm("compatible"),
    model: "llama",
    address: "http://localhost:1/v1",
    uses: "director",
  } as const;
  expect(requestOf({ ...local, input: "0.5", output: "1" }, "", "c1", true)).toMatchObject({
    address: "http://localhost:1/v1",
    uses: ["director"],
    price: { input: 0.5, output: 1 },
    untested: true,
  });
  const free = requestOf({ ...local, free: true, input: "0.5", output: "1" }, "", "c1", false);
  expect([free.free, free.price, free.key]).toEqual([true, undefined, undefined]);
});

it("says what a test cost", () => {
  const result = { model: "m", duration_ms: 840, input_tokens: 9, output_tokens: 2, settings: {} as Settings };
  expect(testWords({ ...result, cost_usd: 0.00005 })).toBe(
    "m answered in 0.8 s. The test took 11 tokens and cost $0.00005.",
  );
  expect(testWords({ ...result, cost_usd: 0 })).toContain("cost nothing");
});
