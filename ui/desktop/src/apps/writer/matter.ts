import type { Editor } from "@tiptap/react";
import type { Matter, Propose } from "../../actions/offers";
import { anchorAt, anchorOf } from "../../domain/anchor";
import type { TextAnchor } from "../../domain/contracts";
import type { Writing } from "../../domain/writing";
import type { Doc } from "../../transport/documents";
import { isLarge } from "./markdown";
import { textOf } from "./marks";

/** What work can be asked about in a document: what is selected, or all of it. */
export function matterOf(doc: Doc, writing: Writing, editor: Editor | undefined): Matter {
  const at = (anchor: TextAnchor) => ({ document: doc.id, version: writing.base.version, anchor });
  const selected = editor && !editor.state.selection.empty ? selectedIn(editor) : undefined;
  if (editor && selected) {
    const propose: Propose = (how) => at(how === "instead" ? anchorIn(editor) : behind(editor));
    // More than an anchor holds cannot be found again as a whole.
    return {
      kind: "selection",
      of: `the document “${doc.title}”`,
      text: selected,
      ...(selected === anchorIn(editor).exact ? { propose } : {}),
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

function selectedIn(editor: Editor): string {
  const { text, from, to } = bounds(editor);
  return from === undefined ? "" : text.slice(from, to);
}

function behind(editor: Editor): TextAnchor {
  const { text, to } = bounds(editor);
  return anchorAt(text, to);
}

function atEnd(written: string, editor: Editor | undefined): TextAnchor {
  const text = editor ? textOf(editor.state.doc).text : written.trimEnd();
  return anchorAt(text, text.length);
}

/** The selection in the text of the document. */
function bounds(editor: Editor): { text: string; from: number | undefined; to: number } {
  const { from, to } = editor.state.selection;
  const { text, at } = textOf(editor.state.doc);
  const first = at.findIndex((pos) => pos >= from);
  const end = at.findIndex((pos) => pos >= to);
  return { text, from: from === to || first < 0 ? undefined : first, to: end < 0 ? text.length : end };
}
