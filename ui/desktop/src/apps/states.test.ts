import { expect, it } from "vitest";
import type { AppState } from "./manifest";
import { apps } from "./registry";

const listed = Object.fromEntries(
  Object.entries(import.meta.glob<{ states: readonly AppState[] }>("./*/states.ts", { eager: true })).map(
    ([path, { states }]) => [path.split("/").at(-2) ?? "", states],
  ),
);

/** What the network does in at least one state of every app. */
const networks = ["answers", "hangs", "fails"] as const;

/** What apps leave out of the list that the accessibility test goes through. */
function missingStates(ids: readonly string[], states: Record<string, readonly AppState[]>): string[] {
  return ids.flatMap((id) =>
    networks.filter((n) => !states[id]?.some((s) => s.network === n)).map((n) => `${id}: no state that ${n}`),
  );
}

const ids = apps.map((a) => a.id);

it("every app of the registry lists a state that answers, one that hangs and one that fails", () => {
  expect(missingStates(ids, listed)).toEqual([]);
  expect(Object.keys(listed).sort()).toEqual([...ids].sort());
});

it("an app without its states is found", () => {
  expect(missingStates([...ids, "dummy"], listed)).toHaveLength(networks.length);
  expect(missingStates(["half"], { half: [{ name: "empty", network: "answers", shows: "p" }] })).toEqual([
    "half: no state that hangs",
    "half: no state that fails",
  ]);
});
