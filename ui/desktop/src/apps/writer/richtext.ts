import { Editor } from "@tiptap/react";
import { parts, type Reading } from "./markdown";
import { OverlayMarks } from "./marks";
import "./richtext.css";

/** What the element of a rich text says of itself, by the name that it is read out with. */
const propsOf = (label: string) => ({
  attributes: {
    "aria-label": label,
    role: "textbox",
    "aria-multiline": "true",
    // The type of what is only looked at, so that nothing moves between the two.
    class: "writer-text markdown",
    "data-autofocus": "",
  },
});

/** Makes the editor of a text that was read. Drawing it takes as long again. */
export function newEditor({ content }: Reading, label: string): Editor {
  const editor = new Editor({
    element: null,
    injectCSS: false,
    extensions: [...parts, OverlayMarks],
    content,
    editorProps: propsOf(label),
  });
  // What shows it would have all of it drawn a second time, for views of React, of which there are none.
  editor.createNodeViews = () => undefined;
  return editor;
}

/** Draws the text of an editor, outside of the page as yet. */
export function draw(editor: Editor): void {
  editor.mount(document.createElement("div"));
}

/** Gives the element of an editor another name. */
export function rename(editor: Editor, label: string): void {
  editor.setOptions({ editorProps: propsOf(label) });
}
