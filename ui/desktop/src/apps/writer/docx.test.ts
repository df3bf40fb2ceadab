import { Packer } from "docx";
import fc from "fast-check";
import { strFromU8, unzipSync } from "fflate";
import { expect, it } from "vitest";
import { documentOf } from "./docx";
import { inWorkspace, type Picture } from "./pictures";
import { treeOf } from "./tree";

// One black pixel.
const pixel = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="),
  (c) => c.charCodeAt(0),
);

/** The parts of a DOCX by name; those in XML as text. */
async function partsOf(markdown: string, pictures = new Map<string, Picture>()): Promise<Record<string, string>> {
  const packed = unzipSync(await Packer.toBuffer(documentOf("Field notes", treeOf(markdown), pictures)));
  return Object.fromEntries(Object.entries(packed).map(([name, content]) => [name, strFromU8(content)]));
}

const bodyOf = async (markdown: string) => (await partsOf(markdown))["word/document.xml"] ?? "";

/** The paragraphs of a part: style, list and words of each. */
function paragraphs(xml: string): string[] {
  return [...xml.matchAll(/<w:p(?: [^>]*)?>(.*?)<\/w:p>/gs)].map(([, inside = ""]) => {
    const style = /<w:pStyle w:val="([^"]*)"/.exec(inside)?.[1];
    const level = /<w:ilvl w:val="(\d)"/.exec(inside)?.[1];
    const words = [...inside.matchAll(/<w:t(?: [^>]*)?>([^<]*)<\/w:t>|(<w:br\/>)/g)].map(([, t, br]) => (br ? "/" : t));
    return `${style ?? "-"}${level === undefined ? "" : ` ${level}`}: ${words.join("")}`;
  });
}

/** What is wrong with XML: a tag that is not closed, or a character that no XML may hold. */
function flaw(xml: string): string | undefined {
  const open: string[] = [];
  for (const [tag, closing, name = "", alone] of xml.matchAll(/<(\/)?([A-Za-z][\w:.-]*)(?:\s[^<>]*?)?(\/)?>/g)) {
    if (closing) {
      if (open.pop() !== name) return `${tag} closes another`;
    } else if (!alone) open.push(name);
  }
  if (open.length > 0) return `${open.at(-1)} is not closed`;
  return /[^\P{Cc}\t\n\r]|\p{Cs}|[\ufffe\uffff]|&(?!(?:\w+|#\w+);)/u.exec(xml)?.[0];
}

/** Holds a DOCX against what every reader of it relies on. */
function sound(parts: Record<string, string>): void {
  for (const [name, content] of Object.entries(parts)) {
    if (/\.(xml|rels)$/.test(name)) expect(flaw(content), name).toBe(undefined);
  }
  const types = parts["[Content_Types].xml"] ?? "";
  for (const name of Object.keys(parts)) {
    const known = types.includes(`PartName="/${name}"`) || types.includes(`Extension="${name.split(".").at(-1)}"`);
    expect(known || name === "[Content_Types].xml", `${name} has a type`).toBe(true);
  }
  const rels = parts["word/_rels/document.xml.rels"] ?? "";
  const document = parts["word/document.xml"] ?? "";
  for (const [, id] of document.matchAll(/r:(?:id|embed)="([^"]*)"/g)) expect(rels).toContain(`Id="${id}"`);
  for (const [, target, mode] of rels.matchAll(/Target="([^"]*)"( TargetMode="External")?/g)) {
    if (!mode) expect(Object.keys(parts)).toContain(`word/${target}`);
  }
  const styles = parts["word/styles.xml"] ?? "";
  for (const [, id] of document.matchAll(/<w:[pr]Style w:val="([^"]*)"/g))
    expect(styles).toContain(`w:styleId="${id}"`);
}

it("keeps headings, quotations, code and breaks", async () => {
  expect(
    paragraphs(await bodyOf("# One\n\nText\\\nbelow\n\n> said\n>\n> ## so\n\n```go\na()\n  b()\n```\n\n---\n\nend")),
  ).toEqual(["Heading1: One", "-: Text/below", "Quote: said", "Heading2: so", "Code: a()/  b()", "-: ", "-: end"]);
});

it("nests lists, counts from where a list begins, and shows what of a task is done", async () => {
  const parts = await partsOf("- a\n\n  more\n  - b\n\n7. seven\n8. eight\n\n1) one\n\n- [x] done\n- [ ] open");
  expect(paragraphs(parts["word/document.xml"] ?? "")).toEqual([
    "ListParagraph 0: a",
    "-: more",
    "ListParagraph 1: b",
    "ListParagraph 0: seven",
    "ListParagraph 0: eight",
    "ListParagraph 0: one",
    "ListParagraph 0: ☑ done",
    "ListParagraph 0: ☐ open",
  ]);
  const numbers = [...(parts["word/document.xml"] ?? "").matchAll(/<w:numId w:val="(\d+)"/g)].map(([, id]) => id);
  expect(numbers[2]).toBe(numbers[3]);
  expect(numbers[3]).not.toBe(numbers[4]);
  expect(parts["word/numbering.xml"]).toContain('<w:start w:val="7"/>');
  sound(parts);
});

it("keeps tables with a head, and their alignment", async () => {
  const xml = await bodyOf("| bird | cm |\n| :-- | --: |\n| *wren* | 9 |\n| owl |");
  expect(xml.match(/<w:tr>|<w:tr /g)).toHaveLength(3);
  expect(xml.match(/<w:tc>/g)).toHaveLength(6);
  expect(xml.match(/<w:tblHeader\/>/g)).toHaveLength(1);
  expect(xml.match(/<w:jc w:val="(?:end|right)"\/>/g)).toHaveLength(3);
  expect(paragraphs(xml).map((p) => p.slice(3))).toEqual(["bird", "cm", "wren", "9", "owl", "", ""]);
});

it("keeps emphasis and links, and takes only the web and mail for links", async () => {
  const parts = await partsOf(
    "a **b *c*** ~~d~~ `e` [f](https://example.com/?a=1&b=2) [g](javascript:alert(1)) [h][x]\n\n[x]: mailto:a@b.c",
  );
  const xml = parts["word/document.xml"] ?? "";
  const run = (words: string) => new RegExp(`<w:r>(?:(?!</w:r>).)*<w:t[^>]*>${words}</w:t>`, "s").exec(xml)?.[0] ?? "";
  expect(run("b ")).toContain("<w:b/>");
  expect(run("c")).toMatch(/<w:b\/>.*<w:i\/>/s);
  expect(run("d")).toContain("<w:strike/>");
  expect(run("e")).toContain('w:val="InlineCode"');
  expect(run("f")).toContain('w:val="Hyperlink"');
  expect(run("g")).not.toContain("Hyperlink");
  const rels = parts["word/_rels/document.xml.rels"] ?? "";
  expect(rels).toContain('Target="https://example.com/?a=1&amp;b=2"');
  expect(rels).toContain('Target="mailto:a@b.c"');
  expect(rels).not.toContain("javascript");
  sound(parts);
});

it("holds pictures of the workspace, no wider than the page, and words for the others", async () => {
  const picture: Picture = { type: "png", data: pixel, width: 1200, height: 600 };
  const parts = await partsOf("![a heron](pond/heron.png) ![gone](gone.png)", new Map([["pond/heron.png", picture]]));
  expect(Object.keys(parts).filter((p) => /^word\/media\/.*\.png$/.test(p))).toHaveLength(1);
  const xml = parts["word/document.xml"] ?? "";
  // 600 by 300 pixels in English Metric Units.
  expect(xml).toContain('cx="5715000" cy="2857500"');
  expect(xml).toContain('descr="a heron"');
  expect(xml).toContain("[gone]");
  sound(parts);
});

it("makes a note of each mention, and none within a note", async () => {
  const parts = await partsOf("One[^a], again[^a].\n\n[^a]: Said[^a] here.");
  expect(parts["word/document.xml"]?.match(/<w:footnoteReference /g)).toHaveLength(2);
  expect(parts["word/footnotes.xml"]?.match(/here\./g)).toHaveLength(2);
  sound(parts);
});

it("is sound whatever the text", async () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary", maxLength: 12 }),
    fc.constantFrom(
      "\n",
      "\n\n",
      "# ",
      "- ",
      "1. ",
      "- [ ] ",
      "> ",
      "```\n",
      "| a | b |\n|-|-|\n",
      "[^1]",
      "[^1]: ",
      "![",
      "](",
      ")",
      "**",
      "`",
      "    ",
      "---\n",
      "<b>",
      "&",
      "\u0001",
      "\ud800",
    ),
  );
  const text = fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(""));
  await fc.assert(
    fc.asyncProperty(text, async (markdown) => sound(await partsOf(markdown))),
    { numRuns: 60 },
  );
}, 60_000);

it("finds pictures in the workspace and nowhere else", () => {
  expect(inWorkspace("./pond/a%20b.png?x#y")).toBe("pond/a b.png");
  expect(inWorkspace("/pond/100%.png")).toBe("pond/100%25.png");
  for (const outside of ["https://example.com/a.png", "//example.com/a.png", "data:,x", "../a.png", "a/../../b", ""]) {
    expect(inWorkspace(outside), outside).toBe(undefined);
  }
});
