import { EditorContent, type Editor as Tiptap, useEditor } from "@tiptap/react";
import { useEffect, useRef, useState } from "react";
import type { Overlay } from "../../transport/documents";
import { laidOut, parts, type Reading, readingOf, written } from "./markdown";
import { OverlayMarks, overlayMarks } from "./marks";
import "#base/kit/markdown.css";

interface Props {
  text: string;
  /** The text as it was read before, if it is still that one. */
  ahead: Reading | undefined;
  label: string;
  overlays: readonly Overlay[];
  onText(text: string): void;
  onEditor(editor: Tiptap | undefined): void;
}

/** Rich text over Markdown. What comes from outside replaces it only when it is another text than was typed here. */
export function Editor({ text, ahead, label, overlays, onText, onEditor }: Props) {
  const told = useRef({ onText, onEditor });
  told.current = { onText, onEditor };
  const [first] = useState(() => (ahead?.text === text ? ahead : readingOf(text)));
  const typed = useRef(text);
  // The text from outside, and what the editor makes of it untouched: laying it out is no writing.
  const given = useRef({ text, laid: "" });
  const editor = useEditor({
    extensions: [...parts, OverlayMarks],
    content: first.content,
    editorProps: {
      attributes: {
        "aria-label": label,
        role: "textbox",
        "aria-multiline": "true",
        // The type of what is only looked at, so that nothing moves between the two.
        class: "writer-text markdown",
        "data-autofocus": "",
      },
    },
    onBeforeCreate: () => {
      typed.current = first.text;
      given.current = { text: first.text, laid: laidOut(first.back) };
    },
    onUpdate: ({ editor: e }) => {
      const now = written(e.getJSON());
      const same = laidOut(now) === given.current.laid;
      const before = typed.current;
      typed.current = same ? given.current.text : now;
      if (typed.current !== before) told.current.onText(typed.current);
    },
  });
  useEffect(() => {
    told.current.onEditor(editor ?? undefined);
    return () => told.current.onEditor(undefined);
  }, [editor]);
  useEffect(() => {
    if (!editor || text === typed.current) return;
    typed.current = text;
    const { content, back } = readingOf(text);
    given.current = { text, laid: laidOut(back) };
    editor.commands.setContent(content, { emitUpdate: false });
  }, [editor, text]);
  // The marks are laid again over every text that comes from outside.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new text has new places
  useEffect(() => {
    editor?.view.dispatch(editor.state.tr.setMeta(overlayMarks, overlays).setMeta("addToHistory", false));
  }, [editor, overlays, text]);
  return <EditorContent className="writer-page" editor={editor} />;
}
