import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm as syntax } from "micromark-extension-gfm";

/** The lists of extensions that a parser of Markdown keeps with its processor. */
interface Extensions {
  micromarkExtensions?: unknown[];
  fromMarkdownExtensions?: unknown[];
}

/**
 * Reads GitHub's additions to Markdown: tables, tasks, footnotes, bare links and strikethrough.
 * remark-gfm also brings the way back, from a tree to Markdown, which makes a page 5 KB longer.
 */
export function gfm(this: { data(): unknown }): void {
  const data = this.data() as Extensions;
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), syntax()];
  data.fromMarkdownExtensions = [...(data.fromMarkdownExtensions ?? []), gfmFromMarkdown()];
}
