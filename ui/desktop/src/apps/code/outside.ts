import { Annotation } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import { spliceOf } from "../../domain/splice";

/** Marks a change that was not typed in the editor. */
export const fromOutside = Annotation.define<boolean>();

/** Makes a text the one that an editor shows. Only what differs is replaced, so that the cursor stays where it is. */
export function showText(view: EditorView, text: string): void {
  // A document counts each break as one character.
  const changes = spliceOf(view.state.doc.toString(), text.replace(/\r\n?/g, "\n"));
  if (!changes) return;
  const insert = view.state.toText(changes.insert.replaceAll("\n", view.state.lineBreak));
  view.dispatch({ changes: { ...changes, insert }, annotations: fromOutside.of(true) });
}
