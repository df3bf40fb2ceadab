import { saveAs } from "../../kit/saveAs";
import { fileAddress } from "../../transport/files";

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] ?? c);

const style = `body{font:17px/1.65 "Source Serif 4",Georgia,serif;max-width:42rem;margin:3rem auto;padding:0 1.5rem;color:#1b1b1f}
h1,h2,h3{line-height:1.25}pre{padding:.8rem 1rem;background:#f4f3ef;overflow:auto}code{font:14px/1.5 "JetBrains Mono",monospace}
blockquote{margin:0;padding-left:1rem;border-left:3px solid #ccc}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.3rem .6rem}img{max-width:100%}
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

/** A document as it is given away. */
interface Given {
  title: string;
  markdown: string;
}

export function exportMarkdown({ title, markdown }: Given): void {
  saveAs(fileName(title, "md"), markdown, "text/markdown");
}

export async function exportHTML({ title, markdown }: Given): Promise<void> {
  const { htmlOf } = await import("./html");
  saveAs(fileName(title, "html"), pageOf(title, htmlOf(markdown)), "text/html");
}

export async function exportDOCX({ title, markdown }: Given): Promise<void> {
  const { docxOf } = await import("./docx");
  const type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
  saveAs(fileName(title, "docx"), await docxOf(title, markdown), type);
}

/** Opens the browser's own dialog, which prints or saves as PDF: it has fonts for every script. */
export async function print({ title, markdown }: Given): Promise<void> {
  const [{ htmlOf }, { inWorkspace }] = await Promise.all([import("./html"), import("./pictures")]);
  const read = new DOMParser().parseFromString(htmlOf(markdown), "text/html");
  for (const image of [...read.images]) {
    const path = inWorkspace(image.getAttribute("src") ?? "");
    // Fetching another would tell its host that the document is read.
    if (path) image.src = fileAddress(path);
    else image.replaceWith(`[${image.alt}]`);
  }
  const frame = document.createElement("iframe");
  // Not hidden: some browsers print nothing of what has no layout.
  frame.inert = true;
  frame.className = "print-frame";
  frame.srcdoc = pageOf(title, read.body.innerHTML);
  frame.onload = () => {
    const page = frame.contentWindow;
    if (!page) return;
    page.onafterprint = () => frame.remove();
    page.print();
  };
  document.body.append(frame);
}
