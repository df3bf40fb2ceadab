import { expect, it } from "vitest";
import { grouped, type Limit, partsOf } from "./settings";

const limit = (name: string): Limit => ({ key: `limits.${name}`, value: "1", from: "default", doc: name });

it("groups limits by what they bound and loses none", () => {
  const limits = ["processes", "run_tasks", "cost_usd", "memory_mb", "new_one"].map(limit);
  expect(grouped(limits).map((g) => [g.title, ...g.limits.map((l) => l.doc)])).toEqual([
    ["Each run", "run_tasks"],
    ["Each sandbox", "processes", "memory_mb"],
    ["The computer", "cost_usd", "new_one"],
  ]);
  expect(grouped([])).toEqual([]);
});

it.each([
  ["a/x", "a/y", "Director and Associate"],
  ["a/x", "b/y", "Director"],
  ["b/x", "a/y", "Associate"],
  ["ab/x", undefined, ""],
])("says what a provider is used for: %s, %s", (director, associate, parts) => {
  const provider = { name: "a", kind: "openai", key: { kind: "none", present: true } } as const;
  const models = { connected: true, message: "", director, ...(associate ? { associate } : {}) };
  expect(partsOf(provider, models)).toBe(parts);
});
