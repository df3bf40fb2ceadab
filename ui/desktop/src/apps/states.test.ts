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

/** What windows are opened with, and what can become of each: all can go, content can be too large to be shown. */
const subjects = [
  { subject: "a/b.txt", can: ["gone", "large"] },
  { subject: "a/b.json", can: ["gone", "large"] },
  { subject: "a/", can: ["gone"] },
  { subject: "document:d", can: ["gone", "large"] },
  { subject: "run:r", can: ["gone"] },
  { subject: "terminal:t", can: ["gone"] },
  { subject: "moment:1", can: ["gone"] },
  { subject: "http://localhost:1/", can: ["gone"] },
] as const;

/** What apps leave out of what can become of a thing that they open. */
function missingEnds(all: typeof apps, states: Record<string, readonly AppState[]>): string[] {
  const missing = all.flatMap((app) =>
    subjects
      .filter(({ subject }) => (app.opens?.(subject) ?? 0) > 0)
      .flatMap(({ can }) => can.filter((of) => !states[app.id]?.some((s) => s.of === of)))
      .map((of) => `${app.id}: no state for what is ${of}`),
  );
  return [...new Set(missing)];
}

it("every app lists how it says that what it opened is gone, or too large", () => {
  expect(missingEnds(apps, listed)).toEqual([]);
  expect(subjects.filter(({ subject }) => !apps.some((app) => app.opens?.(subject)))).toEqual([]);
  const opener = apps.filter((app) => app.id === "writer");
  expect(missingEnds(opener, {})).toEqual(["writer: no state for what is gone", "writer: no state for what is large"]);
});

it("every app that opens a prefix of its own is asked with it", () => {
  const asked = apps.filter((app) => app.opens).filter((app) => !subjects.some(({ subject }) => app.opens?.(subject)));
  expect(asked.map((app) => app.id)).toEqual([]);
});

it("an app without its states is found", () => {
  expect(missingStates([...ids, "dummy"], listed)).toHaveLength(networks.length);
  expect(missingStates(["half"], { half: [{ name: "empty", network: "answers", shows: "p" }] })).toEqual([
    "half: no state that hangs",
    "half: no state that fails",
  ]);
});
