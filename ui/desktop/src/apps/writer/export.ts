import { saveAs } from "../../kit/saveAs";

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] ?? c);

const style = `body{font:17px/1.65 "Source Serif 4",Georgia,serif;max-width:42rem;margin:3rem auto;padding:0 1.5rem;color:#1b1b1f}
h1,h2,h3{line-height:1.25}pre{padding:.8rem 1rem;background:#f4f3ef;overflow:auto}code{font:14px/1.5 "JetBrains Mono",monospace}
blockquote{margin:0;padding-left:1rem;border-left:3px solid #ccc}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.3rem .6rem}
@media print{body{margin:0;max-width:none}}`;

/** A page of its own with a document in it. */
export function pageOf(title: string, html: string): string {
  return `<!doctype html>\n<html><head><meta charset="utf-8"><title>${escaped(title)}</title><style>${style}</style></head>\n<body>${html}</body></html>\n`;
}

/** The name of a file for a title. */
export function fileName(title: string, ending: string): string {
  return `${
    title
      .replace(/[^\p{L}\p{N} ._-]+/gu, "")
      .trim()
      .slice(0, 80) || "document"
  }.${ending}`;
}

export const exportMarkdown = (title: string, text: string) => saveAs(fileName(title, "md"), text, "text/markdown");
export const exportHTML = (title: string, html: string) =>
  saveAs(fileName(title, "html"), pageOf(title, html), "text/html");

/** Opens the browser's own dialog, which prints or saves as PDF. */
export function print(title: string, html: string): void {
  const frame = document.createElement("iframe");
  frame.hidden = true;
  frame.srcdoc = pageOf(title, html);
  frame.onload = () => {
    const page = frame.contentWindow;
    if (!page) return;
    page.onafterprint = () => frame.remove();
    page.print();
  };
  document.body.append(frame);
}
