import type { Editor } from "@tiptap/react";
import type { TextAnchor } from "#base/domain/contracts.ts";
import type { Matter, Propose } from "../../actions/offers";
import { anchorAt, anchorOf } from "../../domain/anchor";
import type { Writing } from "../../domain/writing";
import type { Doc } from "../../transport/documents";
import { isLarge, written } from "./markdown";
import { textOf } from "./marks";

/** What work can be asked about in a document: what is selected, or all of it. */
export function matterOf(doc: Doc, writing: Writing, editor: Editor | undefined): Matter {
  const at = (anchor: TextAnchor) => ({ document: doc.id, version: writing.base.version, anchor });
  const { from, to, text } = editor ? bounds(editor) : nothing;
  if (editor && from !== undefined) {
    const propose: Propose = (how) => at(how === "instead" ? anchorIn(editor) : anchorAt(text, to));
    // More than an anchor holds cannot be found again as a whole.
    const fits = anchorIn(editor).exact === text.slice(from, to);
    return {
      kind: "selection",
      of: `the document “${doc.title}”`,
      text: selectedIn(editor),
      ...(fits ? { propose } : {}),
    };
  }
  const propose: Propose = (how) => at(how === "instead" ? {} : atEnd(writing.text, editor));
  return {
    kind: "document",
    id: doc.id,
    title: doc.title,
    text: writing.text,
    ...(isLarge(writing.text) ? {} : { propose }),
  };
}

/** The selection as an anchor; none for an empty one. */
export function anchorIn(editor: Editor): TextAnchor {
  const { text, from, to } = bounds(editor);
  return from === undefined ? {} : anchorOf(text, from, to);
}

/** The selection as Markdown: without its marks a correction could not keep them. */
function selectedIn(editor: Editor): string {
  const { from, to } = editor.state.selection;
  return written(editor.state.doc.cut(from, to).toJSON()).trim();
}

function atEnd(markdown: string, editor: Editor | undefined): TextAnchor {
  const text = editor ? textOf(editor.state.doc).text : markdown.trimEnd();
  return anchorAt(text, text.length);
}

interface Bounds {
  text: string;
  from: number | undefined;
  to: number;
}

const nothing: Bounds = { text: "", from: undefined, to: 0 };

/** The selection in the text of the document. */
function bounds(editor: Editor): Bounds {
  const { from, to } = editor.state.selection;
  const { text, at } = textOf(editor.state.doc);
  const first = at.findIndex((pos) => pos >= from);
  const end = at.findIndex((pos) => pos >= to);
  return { text, from: from === to || first < 0 ? undefined : first, to: end < 0 ? text.length : end };
}
