import { expect, it } from "vitest";
import { ideasOf } from "./ideas";

const kinds = (projects: string[], documents: { title: string }[]) =>
  ideasOf(projects, documents).map((i) => `${i.is} ${i.name}`.trim());

it("offers what follows from projects and documents, and else what always works", () => {
  expect(kinds([], [])).toEqual(["page", "clock", "colour"]);
  expect(kinds([], [{ title: "Birds" }, { title: "Old" }])).toEqual(["summarise Birds", "page", "clock"]);
  expect(kinds(["hello", "other"], [])).toEqual(["explain hello", "improve hello", "page"]);
  expect(kinds(["hello"], [{ title: "Birds" }])).toEqual(["explain hello", "summarise Birds", "improve hello"]);
});

it("says which project an idea is about", () => {
  expect(ideasOf(["hello"], [{ title: "Birds" }]).map((i) => i.repo)).toEqual(["hello", "", "hello"]);
});
