import { afterEach, describe, expect, it } from "vitest";
import { speak } from "./language";
import { explain, Refusal, sayProblemsIn } from "./problem";
import { problemInGerman } from "./problemsaid";
import type { ProblemDocument } from "./problemtypes";
import { german } from "./problemwords";

afterEach(() => speak("en"));

const problem = (more: Partial<ProblemDocument>): ProblemDocument => ({
  status: 409,
  code: "conflict",
  detail: "in English",
  ...more,
});

describe("a problem in German", () => {
  it("is said by its reason, with the values as German writes them", () => {
    const tooMany = problem({
      reason: "too_many_prompts",
      values: [
        { name: "n", kind: "count", number: 1200 },
        { name: "span", kind: "seconds", number: 5400 },
        { name: "wait", kind: "count", number: 3 },
      ],
    });
    expect(problemInGerman(tooMany)).toEqual({
      title: "mehr als 1.200 Aufträge in 1,5 h",
      remedy: "in 3 Sekunden erneut versuchen",
    });
    const full = problem({
      reason: "import_no_space",
      values: [
        { name: "need", kind: "bytes", number: 3 << 19 },
        { name: "free", kind: "bytes" },
      ],
    });
    expect(problemInGerman(full).title).toBe("der Computer braucht 1,5 MiB, und auf der Platte sind 0 bytes frei");
  });

  it("chooses the form by the number", () => {
    const changed = (number: number) =>
      problemInGerman(
        problem({
          reason: "changed_on_both_sides",
          values: [
            { name: "n", kind: "count", number },
            { name: "paths", kind: "text", text: "a" },
          ],
        }),
      ).title;
    expect(changed(1)).toBe("1 Pfad wurde seither anders geändert: a");
    expect(changed(2)).toBe("2 Pfade wurden seither anders geändert: a");
  });

  it("without a known reason is what the server says behind the sentence of its code", () => {
    const said = { title: "etwas anderes kam dazwischen: in English", remedy: "wait" };
    expect(problemInGerman(problem({ remedy: "wait" }))).toEqual(said);
    expect(problemInGerman(problem({ remedy: "wait", reason: "later" as "no_computer" }))).toEqual(said);
  });

  it("is what the page says where no answer came", () => {
    expect(problemInGerman(problem({ status: 0, detail: "der Computer antwortet nicht" })).title).toBe(
      "der Computer antwortet nicht",
    );
  });

  it("begins with the field that it is about, where one is named", () => {
    const text = (name: string, text: string) => ({ name, kind: "text" as const, text });
    const range = [text("least", "1"), text("most", "9"), text("given", "0")];
    const wrong = problem({ reason: "field_range", values: [...range, text("field", "seconds")] });
    expect(problemInGerman(wrong).title).toBe("seconds muss 1 bis 9 sein, nicht 0");
    expect(problemInGerman({ ...wrong, values: range }).title).toBe("muss 1 bis 9 sein, nicht 0");
  });

  it("keeps a remedy that its reason does not have", () => {
    const busy = problem({ reason: "model_overloaded", remedy: "wait 5 s", values: [] });
    expect(problemInGerman(busy).remedy).toBe("wait 5 s");
  });

  it("has no placeholder left that the values fill", () => {
    for (const [reason, sentences] of Object.entries(german.reasons)) {
      const names = [...new Set(JSON.stringify(sentences).match(/\{\w+\}/g))].map((hole) => hole.slice(1, -1));
      const values = names.map((name) => ({ name, kind: "text" as const, text: "x" }));
      const { title, remedy = "" } = problemInGerman(problem({ reason: reason as "no_computer", values }));
      expect([reason, title + remedy]).toEqual([reason, expect.not.stringMatching(/[{}]|undefined/)]);
    }
  });
});

it("explains in the language of the page, once its sentences are here", async () => {
  const taken = new Refusal(
    problem({ detail: "there is one", reason: "name_taken", values: [{ name: "name", kind: "text", text: "blau" }] }),
  );
  expect(explain(taken).title).toBe("There is one");
  await sayProblemsIn("de");
  expect(explain(taken).title).toBe("There is one");
  speak("de");
  expect(explain(taken)).toEqual({
    title: "Einen Computer namens „blau“ gibt es schon",
    remedy: "Einen anderen Namen wählen",
  });
});
