import { expect, it } from "vitest";
import { grouped, type Limit, partsOf } from "./settings";
import { unconnected } from "./unconnected";

const limit = (name: string): Limit => ({ key: `limits.${name}`, value: "1", from: "default", doc: name });

it("groups limits by what they bound and loses none", () => {
  const limits = ["processes", "run_tasks", "cost_usd", "memory_mb", "new_one"].map(limit);
  expect(grouped(limits).map((g) => [g.title, ...g.limits.map((l) => l.doc)])).toEqual([
    ["models.eachRun", "run_tasks"],
    ["models.eachSandbox", "processes", "memory_mb"],
    ["models.theComputer", "cost_usd", "new_one"],
  ]);
  expect(grouped([])).toEqual([]);
});

it.each([
  [["director", "associate"], "Director and Associate"],
  [["associate"], "Associate"],
  [[], ""],
] as const)("says what a provider is used for: %s", (uses, parts) => {
  const key = { kind: "none", present: true } as const;
  expect(partsOf({ name: "a", kind: "openai", set: "page", uses: [...uses], key })).toBe(parts);
});

it("says which of the two models is missing", () => {
  expect(unconnected({ connected: false, message: "the file's words" })).toMatch(/^No model is connected/);
  expect(unconnected({ connected: false, director: "a/m", message: "None for the Associate." })).toBe(
    "None for the Associate.",
  );
});
