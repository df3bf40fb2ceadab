import {
  AlignmentType,
  ExternalHyperlink,
  type FileChild,
  FootnoteReferenceRun,
  HeadingLevel,
  ImageRun,
  type IParagraphOptions,
  type IRunOptions,
  Paragraph,
  type ParagraphChild,
  Table,
  TableCell,
  TableRow,
  TextRun,
  WidthType,
} from "docx";
import type { Picture } from "./pictures";
import { type Block, type Inline, type Of, partsOf, type Tree, targetsOf } from "./tree";

/** How far a list or a quotation goes in, in twentieths of a point. */
export const STEP = 480;
/** What is between the margins of the page, in twentieths of a point and in pixels. */
const PAGE = { twips: 9026, pixels: 600 };
/** Lists are no deeper in a DOCX. */
const DEEPEST = 8;

/** The content of a DOCX, and what it refers to. */
export interface Body {
  blocks: FileChild[];
  /** The numbered lists, and where each begins to count. */
  lists: { reference: string; start: number }[];
  notes: Record<string, { children: Paragraph[] }>;
}

/** Where a block stands. */
interface Place {
  /** Lists and quotations around it. */
  lists: number;
  quotes: number;
  /** The mark of the list before it. */
  mark?: { reference: string; level: number };
  /** What the first words follow: the box of a task. */
  lead?: string;
  /** It is within a note, which has no notes of its own. */
  noted?: boolean;
}

interface Making extends Body {
  pictures: ReadonlyMap<string, Picture>;
  targets: ReadonlyMap<string, string>;
  definitions: ReadonlyMap<string, Of<"footnoteDefinition">>;
}

/** Builds the content of a DOCX from a text; pictures by their addresses. */
export function bodyOf(tree: Tree, pictures: ReadonlyMap<string, Picture>): Body {
  const definitions = new Map<string, Of<"footnoteDefinition">>();
  for (const part of partsOf(tree)) if (part.type === "footnoteDefinition") definitions.set(part.identifier, part);
  const made: Making = { blocks: [], lists: [], notes: {}, pictures, targets: targetsOf(tree), definitions };
  made.blocks = blocksOf(made, tree.children, { lists: 0, quotes: 0 });
  return made;
}

/** Each block stands at `place`, the first of a list's item behind its mark. */
function blocksOf(made: Making, nodes: readonly Block[], place: Place): FileChild[] {
  const { mark, lead, ...later } = place;
  return nodes.flatMap((node, i) => blockOf(made, node, i === 0 ? place : later));
}

function blockOf(made: Making, node: Block, place: Place): FileChild[] {
  switch (node.type) {
    case "heading":
      return [paragraph(made, node.children, place, { heading: HeadingLevel[`HEADING_${node.depth}`] })];
    case "paragraph":
      return [paragraph(made, node.children, place)];
    case "blockquote":
      return blocksOf(made, node.children, { ...place, quotes: place.quotes + 1 });
    case "code":
      return [new Paragraph({ ...layout(place), style: "Code", children: linesOf(node.value) })];
    case "list":
      return listOf(made, node, place);
    case "table":
      // A paragraph keeps it from growing together with a table that follows.
      return [tableOf(made, node, place), new Paragraph({ spacing: { after: 0 } })];
    case "thematicBreak":
      return [new Paragraph({ thematicBreak: true })];
    case "html":
      return [new Paragraph({ ...layout(place), children: linesOf(node.value) })];
    default:
      return [];
  }
}

function layout({ lists, quotes, mark }: Place): IParagraphOptions {
  const left = STEP * (lists + quotes);
  return {
    ...(quotes > 0 ? { style: "Quote" } : {}),
    ...(mark ? { numbering: mark } : {}),
    // A list brings its own, unless it is quoted.
    ...(mark ? quotes > 0 && { indent: { left, hanging: 360 } } : left > 0 && { indent: { left } }),
  };
}

function paragraph(made: Making, nodes: readonly Inline[], place: Place, more: IParagraphOptions = {}): Paragraph {
  const lead = place.lead ? [new TextRun(place.lead)] : [];
  return new Paragraph({ ...layout(place), ...more, children: [...lead, ...runsOf(made, nodes, {}, place.noted)] });
}

function listOf(made: Making, list: Of<"list">, place: Place): FileChild[] {
  let reference = "bullets";
  if (list.ordered) {
    reference = `numbers-${made.lists.length + 1}`;
    made.lists.push({ reference, start: list.start ?? 1 });
  }
  const mark = { reference, level: Math.min(place.lists, DEEPEST) };
  return list.children.flatMap((item) => {
    const lead = typeof item.checked === "boolean" ? (item.checked ? "☑ " : "☐ ") : undefined;
    const inside: Place = { ...place, lists: place.lists + 1, mark, ...(lead ? { lead } : {}) };
    const [first] = item.children;
    // The mark stands before words: an empty item, or one that begins with another list, has a line of its own.
    const words = first && first.type !== "list" && first.type !== "table";
    const blank = words ? [] : [paragraph(made, [], inside)];
    const { mark: _, lead: __, ...rest } = inside;
    return [...blank, ...blocksOf(made, item.children, words ? inside : rest)];
  });
}

function tableOf(made: Making, table: Of<"table">, place: Place): Table {
  const columns = Math.max(1, ...table.children.map((row) => row.children.length));
  const width = Math.floor(PAGE.twips / columns);
  const aligned = { left: AlignmentType.START, center: AlignmentType.CENTER, right: AlignmentType.END };
  const rows = table.children.map((row, r) => {
    const cells = Array.from({ length: columns }, (_, c) => {
      const alignment = aligned[table.align?.[c] ?? "left"];
      const words = runsOf(made, row.children[c]?.children ?? [], r === 0 ? { bold: true } : {}, place.noted);
      return new TableCell({
        width: { size: width, type: WidthType.DXA },
        margins: { top: 60, bottom: 60, left: 100, right: 100 },
        children: [new Paragraph({ alignment, spacing: { after: 0 }, children: words })],
      });
    });
    return new TableRow({ tableHeader: r === 0, children: cells });
  });
  return new Table({
    rows,
    columnWidths: Array.from({ length: columns }, () => width),
    width: { size: width * columns, type: WidthType.DXA },
  });
}

/** What the words of a run look like. */
type Look = Pick<IRunOptions, "bold" | "italics" | "strike" | "style">;

function runsOf(made: Making, nodes: readonly Inline[], look: Look, noted = false): ParagraphChild[] {
  return nodes.flatMap((node) => runOf(made, node, look, noted));
}

function runOf(made: Making, node: Inline, look: Look, noted: boolean): ParagraphChild[] {
  const within = (more: Look) => ("children" in node ? runsOf(made, node.children, { ...look, ...more }, noted) : []);
  switch (node.type) {
    case "text":
      return [new TextRun({ ...look, text: printable(node.value.replaceAll("\n", " ")) })];
    case "html":
      return [new TextRun({ ...look, text: printable(node.value) })];
    case "emphasis":
      return within({ italics: true });
    case "strong":
      return within({ bold: true });
    case "delete":
      return within({ strike: true });
    case "inlineCode":
      return [new TextRun({ ...look, style: "InlineCode", text: printable(node.value) })];
    case "break":
      return [new TextRun({ break: 1 })];
    case "link":
      return linked(node.url, within);
    case "linkReference":
      return linked(made.targets.get(node.identifier) ?? "", within);
    case "image":
      return [pictureOf(made, node.url, node.alt, look)];
    case "imageReference":
      return [pictureOf(made, made.targets.get(node.identifier) ?? "", node.alt, look)];
    case "footnoteReference":
      return [noteOf(made, node.identifier, noted)];
  }
}

/** Words that lead somewhere; only the web and mail do from a file. */
function linked(link: string, within: (more: Look) => ParagraphChild[]): ParagraphChild[] {
  if (!/^(https?|mailto):/i.test(link)) return within({});
  return [new ExternalHyperlink({ link: printable(link), children: within({ style: "Hyperlink" }) })];
}

function pictureOf(made: Making, address: string, alt: string | null | undefined, look: Look): ParagraphChild {
  const picture = made.pictures.get(address);
  const words = printable(alt || address);
  if (!picture) return new TextRun({ ...look, italics: true, text: `[${words}]` });
  const { type, data, width, height } = picture;
  const scale = Math.min(1, PAGE.pixels / width);
  return new ImageRun({
    type,
    data,
    transformation: { width: Math.round(width * scale), height: Math.max(1, Math.round(height * scale)) },
    altText: { name: words, description: words },
  });
}

/** Each mention is a note of its own: two that share one are no valid DOCX. */
function noteOf(made: Making, identifier: string, noted: boolean): ParagraphChild {
  const definition = made.definitions.get(identifier);
  if (!definition || noted) return new TextRun(`[${printable(identifier)}]`);
  const id = Object.keys(made.notes).length + 1;
  made.notes[id] = { children: [] };
  const blocks = blocksOf(made, definition.children, { lists: 0, quotes: 0, noted: true });
  made.notes[id] = { children: blocks.filter((b) => b instanceof Paragraph) };
  return new FootnoteReferenceRun(id);
}

function linesOf(text: string): TextRun[] {
  return text.split("\n").map((line, i) => new TextRun({ text: printable(line), ...(i > 0 ? { break: 1 } : {}) }));
}

/** Text without what no XML may hold. */
function printable(text: string): string {
  return text.replace(/[^\P{Cc}\t]|\p{Cs}|[\ufffe\uffff]/gu, "");
}
