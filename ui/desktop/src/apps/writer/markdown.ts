import { TaskItem, TaskList } from "@tiptap/extension-list";
import { TableKit } from "@tiptap/extension-table";
import { Markdown, MarkdownManager } from "@tiptap/markdown";
import StarterKit from "@tiptap/starter-kit";

/** What rich text can hold here. */
export const parts = [
  StarterKit.configure({ link: { openOnClick: false, protocols: ["http", "https", "mailto"] }, underline: false }),
  TableKit.configure({ table: { resizable: false } }),
  TaskList,
  TaskItem.configure({ nested: true }),
];

/** The extensions of an editor over Markdown. */
export const extensions = [...parts, Markdown];

const manager = new MarkdownManager({ extensions: parts });

/** Markdown as it is written back after it was read, unchanged. */
export function rewritten(markdown: string): string {
  return manager.serialize(manager.parse(markdown));
}

/** Footnotes and definitions of links: read as plain words, they would lose what they mean. */
const beyond = /\[\^[^\]]+\]|^ {0,3}\[[^\]]+\]:/m;

/** Letters and digits alone: what a reader would miss. */
function letters(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, "");
}

/**
 * Whether a text can go through rich text and back without a loss: every letter of its Markdown comes back,
 * and what comes back means the same.
 */
export function survives(markdown: string): boolean {
  if (beyond.test(markdown)) return false;
  try {
    const read = manager.parse(markdown);
    const back = manager.serialize(read);
    return letters(back) === letters(markdown) && JSON.stringify(manager.parse(back)) === JSON.stringify(read);
  } catch {
    return false;
  }
}
