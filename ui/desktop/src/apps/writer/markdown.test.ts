import fc from "fast-check";
import { expect, it } from "vitest";
import { folded } from "./folded";
import { howOf, readAhead, readingOf, survives } from "./markdown";

const rewritten = (text: string) => readingOf(text).back;

const samples = {
  headings: "# One\n\nText.\n\n## Two\n\nMore *text*, **bold**, `code` and ~~gone~~.",
  lists: "- a\n- b\n  - c\n\n1. one\n2. two",
  tasks: "- [ ] open\n- [x] done",
  "numbered tasks": "1. [x] look\n2. [ ] fix **it**\n3. and a plain one",
  quote: "> said\n>\n> and more",
  code: "```go\nfunc main() {}\n```",
  link: "See [the page](https://example.com/a?b=c).",
  rule: "above\n\n---\n\nbelow",
  table: "| a | b |\n| --- | --- |\n| 1 | 2 |",
};

for (const [name, text] of Object.entries(samples)) {
  it(`brings ${name} back`, () => expect(survives(text), rewritten(text)).toBe(true));
}

it("writes the boxes of tasks as they were", () => {
  for (const text of [samples.tasks, samples["numbered tasks"], "## Plan\n\n1. [x] a\n2. [x] `b`"]) {
    expect(rewritten(text)).toBe(text);
  }
});

it("does not take what it cannot keep", () => {
  for (const lost of [
    "![picture](a.png)",
    "text[^1]\n\n[^1]: a note",
    '<div class="x">raw</div>',
    "[a]: https://example.com",
  ]) {
    expect(survives(lost), rewritten(lost)).toBe(false);
  }
});

const word = fc.stringMatching(/^[a-zA-Z0-9]{1,8}$/);
const line = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: word },
      word.map((w) => `**${w}**`),
      word.map((w) => `*${w}*`),
      word.map((w) => `\`${w}\``),
      fc.tuple(word, word).map(([a, b]) => `[${a}](https://example.com/${b})`),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((words) => words.join(" "));
const block = fc.oneof(
  line,
  fc.tuple(fc.integer({ min: 1, max: 4 }), word).map(([n, w]) => `${"#".repeat(n)} ${w}`),
  fc.array(line, { minLength: 1, maxLength: 4 }).map((items) => items.map((i) => `- ${i}`).join("\n")),
  fc.array(line, { minLength: 1, maxLength: 4 }).map((items) => items.map((i, n) => `${n + 1}. ${i}`).join("\n")),
  line.map((l) => `> ${l}`),
  fc.array(word, { minLength: 1, maxLength: 4 }).map((lines) => `\`\`\`\n${lines.join("\n")}\n\`\`\``),
  fc.constant("---"),
);
// A paragraph stands between blocks: two lists that touch are one list in Markdown.
const text = fc.array(fc.tuple(block, line), { maxLength: 5 }).map((blocks) => blocks.flat().join("\n\n"));

it("reads again what it wrote, for every text of what our documents use", () => {
  fc.assert(
    fc.property(text, (markdown) => {
      expect(survives(markdown), rewritten(markdown)).toBe(true);
      const once = rewritten(markdown);
      expect(rewritten(once)).toBe(once);
    }),
    { numRuns: 60 },
  );
}, 60_000);

it("says of any text at all whether it survives, and never of one that lost a letter", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (markdown) => {
      if (!survives(markdown)) return;
      const back = rewritten(markdown);
      expect(back.replace(/[^\p{L}\p{N}]+/gu, "")).toBe(markdown.replace(/[^\p{L}\p{N}]+/gu, ""));
    }),
    { numRuns: 200 },
  );
}, 60_000);

it("makes no text rich that is long, and only shows what cannot be laid out", () => {
  const lines = "A line of it.\n\n";
  expect(howOf(lines)).toBe("rich");
  expect(howOf("text[^1]\n\n[^1]: a note")).toBe("source");
  expect(howOf(lines.repeat(4000))).toBe("long");
  expect(howOf(lines.repeat(40_000))).toBe("large");
  expect(howOf("word ".repeat(20_000))).toBe("large");
});

it("folds long lines between words where it can, and changes nothing else", () => {
  const text = `short\n\n${"word ".repeat(3000)}\n${"x".repeat(5000)}`;
  const lines = folded(text).split("\n");
  expect(Math.max(...lines.map((l) => l.length))).toBeLessThanOrEqual(2000);
  expect(lines.join("")).toBe(text.replaceAll("\n", ""));
  expect(lines.filter((l) => l.startsWith("w")).every((l) => /^(word )+$/.test(l))).toBe(true);
});

it.each([...Object.values(samples), "text[^1]\n\n[^1]: a note", "word ".repeat(20_000)])(
  "reads a text ahead, step by step, as it does at once",
  async (text) => {
    const how = howOf(text);
    const ahead = await readAhead(text, text);
    expect(ahead).toEqual({ version: text, how, ...(how === "rich" ? { reading: readingOf(text) } : {}) });
    // What was typed over it and not saved is what is read.
    const typed = await readAhead(text, "typed");
    expect(typed.reading).toEqual(how === "rich" ? readingOf("typed") : undefined);
  },
);
