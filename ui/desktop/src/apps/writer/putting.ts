import type { JSONContent } from "@tiptap/core";
import { type Fragment, Node, type ResolvedPos, Slice } from "@tiptap/pm/model";
import type { Transaction } from "@tiptap/pm/state";

/** A part of a document, or with `from` = `to` a place in it. */
export interface Place {
  from: number;
  to: number;
}

/** Puts what was read of Markdown in the place of a part: words for words, blocks for blocks; at a mere place, behind the block it lies in. */
export function put(tr: Transaction, { from, to }: Place, content: JSONContent): Transaction {
  const blocks = Node.fromJSON(tr.doc.type.schema, content).content;
  const start = tr.doc.resolve(from);
  const end = tr.doc.resolve(to);
  if (from === to) return tr.insert(start.depth > 0 ? start.after(1) : from, blocks);
  const words = onlyWords(blocks);
  if (words && start.sameParent(end)) return tr.replaceWith(from, to, words);
  return instead(tr, start, end, blocks) ?? tr.replace(from, to, joining(blocks));
}

/** The words of what is one paragraph. */
function onlyWords(blocks: Fragment): Fragment | undefined {
  const [first] = blocks.content;
  return blocks.childCount === 1 && first?.type.name === "paragraph" ? first.content : undefined;
}

/** Takes the place of whole blocks, or of whole items of a list; undefined when only parts of them are chosen. */
function instead(tr: Transaction, start: ResolvedPos, end: ResolvedPos, blocks: Fragment): Transaction | undefined {
  const whole = start.parentOffset === 0 && end.parentOffset === end.parent.content.size;
  const range = whole ? start.blockRange(end) : null;
  if (!range) return undefined;
  for (let depth = range.depth; depth >= 0; depth--) {
    const parent: Node = start.node(depth);
    const [first, last] = [start.index(depth), end.indexAfter(depth)];
    const fitting = [blocks, itemsOf(blocks)].find((part) => part && parent.canReplace(first, last, part));
    if (fitting) return tr.replaceWith(start.posAtIndex(first, depth), end.posAtIndex(last, depth), fitting);
    // Further out it would take the place of more than was chosen.
    if (first > 0 || last < parent.childCount) return undefined;
  }
  return undefined;
}

/** The items of what is one list. */
const itemsOf = (blocks: Fragment) => (blocks.childCount === 1 ? blocks.content[0]?.content : undefined);

/** Blocks whose first and last words join those that stand around them. */
function joining(blocks: Fragment): Slice {
  const open = (node: Node | null | undefined) => (node?.isTextblock ? 1 : 0);
  return new Slice(blocks, open(blocks.firstChild), open(blocks.lastChild));
}
