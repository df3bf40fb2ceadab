import { getSchema } from "@tiptap/core";
import { Node } from "@tiptap/pm/model";
import { EditorState } from "@tiptap/pm/state";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { TextAnchor } from "#base/domain/contracts.ts";
import { parts, read, written } from "./markdown";
import { placeOf, textOf } from "./marks";
import { put } from "./putting";

const schema = getSchema(parts);

/** The Markdown of a text in which what an anchor finds was replaced. */
function after(markdown: string, anchor: TextAnchor, text: string): string {
  const state = EditorState.create({ doc: Node.fromJSON(schema, read(markdown)) });
  const place = placeOf(state.doc, { anchor });
  if (!place) throw new Error(`“${anchor.exact ?? anchor.prefix}” is not there`);
  const { doc } = put(state.tr, place, read(text));
  doc.check();
  return written(doc.toJSON()).trim();
}

const cases: Record<string, [markdown: string, anchor: TextAnchor, text: string, want: string]> = {
  "a word": ["The heron **stands** still.", { exact: "heron" }, "grey *heron*", "The grey *heron* **stands** still."],
  "a whole paragraph by one": ["One.\n\nTwo.\n\nThree.", { exact: "Two." }, "Second.", "One.\n\nSecond.\n\nThree."],
  "a heading by words": ["# Birds\n\nText.", { exact: "Birds" }, "Birds of the pond", "# Birds of the pond\n\nText."],
  "a heading by a heading": ["# Birds\n\nText.", { exact: "Birds" }, "## Owls", "## Owls\n\nText."],
  "a paragraph by several blocks": ["One.\n\nTwo.", { exact: "Two." }, "- a\n- b\n\nEnd.", "One.\n\n- a\n- b\n\nEnd."],
  "two paragraphs by one": ["One.\n\nTwo.\n\nThree.", { exact: "One.\nTwo." }, "Both.", "Both.\n\nThree."],
  "some items by a list": ["- a\n- b\n- c", { exact: "a\nb" }, "- x\n- y\n- z", "- x\n- y\n- z\n- c"],
  "a whole list by a paragraph": ["Before.\n\n- a\n- b", { exact: "a\nb" }, "Neither.", "Before.\n\nNeither."],
  "parts of two paragraphs": ["One two.\n\nThree four.", { exact: "two.\nThree" }, "2\n\n3", "One 2\n\n3 four."],
  "the end": ["One.\n\nTwo.", { prefix: "Two." }, "Three.\n\nFour.", "One.\n\nTwo.\n\nThree.\n\nFour."],
  "the end of a list": ["- a\n- b", { prefix: "b" }, "After it.", "- a\n- b\n\nAfter it."],
  "behind a paragraph": ["One.\n\nTwo.", { prefix: "One.", suffix: "\nTwo." }, "And.", "One.\n\nAnd.\n\nTwo."],
};

for (const [name, [markdown, anchor, text, want]] of Object.entries(cases)) {
  it(`replaces ${name}`, () => expect(after(markdown, anchor, text)).toBe(want));
}

it("never makes a document that its schema does not allow, wherever a proposal lies", () => {
  const markdown =
    "# A b\n\n- one\n  - two\n- [ ] three\n\n> four five\n\n| a | b |\n| --- | --- |\n| c | d |\n\n```\ncode\n```";
  const doc = Node.fromJSON(schema, read(markdown));
  const texts = ["word", "# H\n\ntext", "- x\n- y", "> q", "| e |\n| --- |\n| f |", "```\nz\n```"];
  const { at } = textOf(doc);
  const place = fc.integer({ min: 0, max: at.length - 1 }).map((i) => at[i] ?? 0);
  fc.assert(
    fc.property(place, place, fc.constantFrom(...texts), (a, b, text) => {
      const { tr } = EditorState.create({ doc });
      put(tr, { from: Math.min(a, b), to: Math.max(a, b) }, read(text)).doc.check();
    }),
    { numRuns: 500 },
  );
}, 60_000);
