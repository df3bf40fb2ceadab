import { Document, LevelFormat, Packer } from "docx";
import { bodyOf, STEP } from "./docxbody";
import { type Picture, picturesOf } from "./pictures";
import { type Tree, treeOf } from "./tree";

/** How deep lists go in a DOCX. */
const LEVELS = [0, 1, 2, 3, 4, 5, 6, 7, 8];
const BULLETS = ["•", "◦", "▪"];

const spaced = (before: number, after: number) => ({ spacing: { before, after } });
const heading = (size: number, before: number) => ({
  run: { size, bold: true, color: "1B1B1F" },
  paragraph: { ...spaced(before, 100), keepNext: true },
});

const styles = {
  default: {
    document: { run: { font: "Calibri", size: 22 }, paragraph: { spacing: { after: 140, line: 288 } } },
    heading1: heading(36, 320),
    heading2: heading(30, 280),
    heading3: heading(26, 240),
    heading4: heading(24, 220),
    heading5: heading(22, 200),
    heading6: heading(22, 200),
  },
  paragraphStyles: [
    {
      id: "Quote",
      name: "Quote",
      basedOn: "Normal",
      run: { italics: true, color: "55555C" },
      paragraph: { border: { left: { style: "single" as const, size: 18, color: "C9C9CF", space: 10 } } },
    },
    {
      id: "Code",
      name: "Code",
      basedOn: "Normal",
      run: { font: "Consolas", size: 19 },
      paragraph: { shading: { type: "clear" as const, fill: "F4F3EF" }, spacing: { after: 140, line: 252 } },
    },
  ],
  characterStyles: [
    {
      id: "InlineCode",
      name: "Inline Code",
      run: { font: "Consolas", size: 20, shading: { type: "clear" as const, fill: "F4F3EF" } },
    },
  ],
};

const levels = (first: number, format: "bullet" | "decimal") =>
  LEVELS.map((level) => ({
    level,
    format: LevelFormat[format === "bullet" ? "BULLET" : "DECIMAL"],
    text: format === "bullet" ? (BULLETS[level % BULLETS.length] ?? "•") : `%${level + 1}.`,
    start: first,
    style: { paragraph: { indent: { left: STEP * (level + 1), hanging: 360 } } },
  }));

/** A text in Markdown as a DOCX, with those of its pictures that lie in the workspace. */
export async function docxOf(title: string, markdown: string): Promise<Blob> {
  const tree = treeOf(markdown);
  return Packer.toBlob(documentOf(title, tree, await picturesOf(tree)));
}

/** Headings, lists, tables, code, quotations, links, notes and pictures, in styles that a word processor knows. */
export function documentOf(title: string, tree: Tree, pictures: ReadonlyMap<string, Picture>): Document {
  const body = bodyOf(tree, pictures);
  return new Document({
    title,
    creator: "ChoirOS",
    styles,
    numbering: {
      config: [
        { reference: "bullets", levels: levels(1, "bullet") },
        ...body.lists.map(({ reference, start }) => ({ reference, levels: levels(start, "decimal") })),
      ],
    },
    footnotes: body.notes,
    sections: [{ children: body.blocks }],
  });
}
