import { Extension, type JSONContent, type Node } from "@tiptap/core";
import { ListItem, OrderedList, TaskItem, TaskList } from "@tiptap/extension-list";
import { TableKit } from "@tiptap/extension-table";
import { MarkdownManager } from "@tiptap/markdown";
import StarterKit from "@tiptap/starter-kit";
import { nextTask } from "../../kit/nextTask";

/** The mark of a list's first item. */
const LIST = /^\s*([-+*]|[\p{L}\p{N}]+[.)])\s/u;

/** A list whose parser is asked where a list begins: it takes all of the text that follows apart, at every block. */
function atItsMark<O, S>(list: Node<O, S>): Node<O, S> {
  const tokenizer = list.config.markdownTokenizer;
  if (!tokenizer) return list;
  return list.extend({
    markdownTokenizer: {
      ...tokenizer,
      tokenize: (rest, tokens, lexer) => (LIST.test(rest) ? tokenizer.tokenize(rest, tokens, lexer) : undefined),
    },
  });
}

/** The box of a task at the beginning of an item. */
const BOX = /^\[([ xX])\] /;

/**
 * An item of a list that may be a task, done or not. A task list has no numbers;
 * the plans of runs do, and their ticks are evidence.
 */
const Item = ListItem.extend({
  addAttributes() {
    return {
      ...this.parent?.(),
      checked: {
        default: null,
        keepOnSplit: false,
        parseHTML: (element) => ({ true: true, false: false })[element.dataset.checked ?? ""] ?? null,
        renderHTML: ({ checked }) => (checked === null ? {} : { "data-checked": String(checked) }),
      },
    };
  },
  renderMarkdown(node, helpers, context) {
    const item = this.parent?.(node, helpers, context) ?? "";
    const { checked = null } = node.attrs ?? {};
    return checked === null ? item : item.replace(/^(\s*\S+ )/, `$1[${checked ? "x" : " "}] `);
  },
});

/** Headings of a document are below that of its window; those who hear the page are told so. */
const HeadingLevels = Extension.create({
  name: "headingLevels",
  addGlobalAttributes: () => [
    {
      types: ["heading"],
      attributes: {
        level: { default: 1, renderHTML: ({ level }) => ({ "aria-level": Math.min(6, Number(level) + 2) }) },
      },
    },
  ],
});

/** What rich text can hold here. */
export const parts = [
  StarterKit.configure({
    link: { openOnClick: false, protocols: ["http", "https", "mailto"] },
    orderedList: false,
    listItem: false,
    underline: false,
  }),
  HeadingLevels,
  Item,
  atItsMark(OrderedList),
  TableKit.configure({ table: { resizable: false } }),
  atItsMark(TaskList),
  TaskItem.configure({ nested: true }),
];

// One for all editors: each adds what it knows to a parser that all share, so that with one for each every
// document that is opened would be read more slowly than the one before.
// It is made when it is first needed, which takes its time.
let made: MarkdownManager | undefined;
function manager(): MarkdownManager {
  made ??= new MarkdownManager({ extensions: parts });
  return made;
}

/** What rich text shows of Markdown. */
export const read = (markdown: string): JSONContent => boxed(manager().parse(markdown));

/** Makes the boxes at the beginning of items what they say. */
function boxed(node: JSONContent): JSONContent {
  const content = node.content?.map(boxed);
  if (!content) return node;
  const [paragraph] = content;
  const first = paragraph?.content?.[0];
  const box = node.type === "listItem" && first?.type === "text" && !first.marks ? BOX.exec(first.text ?? "") : null;
  if (!box || !paragraph?.content) return { ...node, content };
  const rest = first?.text?.slice(box[0].length) ?? "";
  const words = [...(rest ? [{ ...first, text: rest }] : []), ...paragraph.content.slice(1)];
  return {
    ...node,
    attrs: { ...node.attrs, checked: box[1] !== " " },
    content: [{ ...paragraph, content: words }, ...content.slice(1)],
  };
}

/** Rich text as Markdown. */
export const written = (content: JSONContent): string => manager().serialize(content);

/** A text without the blank lines at its end, which an editor adds to have a place to go on. */
export const laidOut = (markdown: string): string => markdown.replace(/(\s|&nbsp;)+$/, "");

/** Footnotes and definitions of links: read as plain words, they would lose what they mean. */
const beyond = /\[\^[^\]]+\]|^ {0,3}\[[^\]]+\]:/m;

/** The box of a task, written as plain words. */
const ESCAPED = /\\\[[ xX]\\\]/;

/** Letters and digits alone: what a reader would miss. */
function letters(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, "");
}

/** What rich text shows of a text, and the Markdown it is written back as, unchanged. */
export interface Reading {
  text: string;
  content: JSONContent;
  back: string;
}

/** Reads a text, step by step: each takes its time. */
function* reading(text: string): Generator<undefined, Reading> {
  const content = read(text);
  yield;
  return { text, content, back: written(content) };
}

/**
 * Reads a text as rich text, step by step, if it can go through that and back without a loss: every letter of its
 * Markdown comes back, and what comes back means the same.
 */
function* surviving(text: string): Generator<undefined, Reading | undefined> {
  if (beyond.test(text)) return undefined;
  try {
    const one = yield* reading(text);
    // A box of a task that became plain words would look the same in letters.
    if (ESCAPED.test(one.back) && !ESCAPED.test(text)) return undefined;
    if (letters(one.back) !== letters(text)) return undefined;
    yield;
    return JSON.stringify(read(one.back)) === JSON.stringify(one.content) ? one : undefined;
  } catch {
    return undefined;
  }
}

/** Does all steps at once. */
function atOnce<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Does each step in a task of its own. */
async function inTasks<T>(steps: Generator<undefined, T>): Promise<T> {
  for (;;) {
    await nextTask();
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Whether a text survives rich text, see surviving. */
export const survives = (markdown: string): boolean => atOnce(surviving(markdown)) !== undefined;

/** Reads a text as rich text. */
export const readingOf = (text: string): Reading => atOnce(reading(text));

/** How a text is shown: as rich text; as Markdown, because of what it has or because it is long; or only to be read. */
export type How = "rich" | "source" | "long" | "large";

/** Up to so many characters are rich text: reading them takes the square of their number. */
const RICH = 32 << 10;
/** Above so many, and with a line of so many beyond what is rich, a text is only shown. */
const LARGE = 512 << 10;
const LINE = 64 << 10;

/** How a text that comes from outside is shown. */
export function howOf(text: string): How {
  return howLong(text) ?? (survives(text) ? "rich" : "source");
}

/** How a text is shown that is too long to be rich. */
function howLong(text: string): How | undefined {
  if (text.length <= RICH) return undefined;
  return isLarge(text) || text.split("\n").some((line) => line.length > LINE) ? "large" : "long";
}

/** A text that was read before it is shown: how its version is shown, and the text as rich text if that is how. */
export interface ReadAhead {
  version: string;
  how: How;
  reading?: Reading | undefined;
}

/** Reads a text that was written over a version, without holding up the page. */
export async function readAhead(version: string, text: string): Promise<ReadAhead> {
  const long = howLong(version);
  if (!long) manager();
  if (long) return { version, how: long };
  const survived = await inTasks(surviving(version));
  if (!survived) return { version, how: "source" };
  return { version, how: "rich", reading: text === version ? survived : await inTasks(reading(text)) };
}

/** Whether what goes over a whole text at once would hold up the page. */
export const isLarge = (text: string) => text.length > LARGE;
