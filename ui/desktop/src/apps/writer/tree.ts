import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";

/** A text as its Markdown says it is built. */
export type Tree = ReturnType<typeof fromMarkdown>;
export type Block = Tree["children"][number];
export type Of<T extends Block["type"]> = Extract<Block, { type: T }>;
export type Inline = Of<"paragraph">["children"][number];

/** Reads Markdown with the tables, tasks, notes and bare links of GitHub's. */
export function treeOf(markdown: string): Tree {
  return fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
}

/** Every part of a text, each before what it holds. */
export function* partsOf(node: Tree | Block): Generator<Block> {
  if (node.type !== "root") yield node;
  if ("children" in node) for (const child of node.children) yield* partsOf(child);
}

/** Where the named links and pictures of a text lead. */
export function targetsOf(tree: Tree): ReadonlyMap<string, string> {
  const targets = new Map<string, string>();
  for (const part of partsOf(tree)) {
    // The first of a name counts, as in CommonMark.
    if (part.type === "definition" && !targets.has(part.identifier)) targets.set(part.identifier, part.url);
  }
  return targets;
}
