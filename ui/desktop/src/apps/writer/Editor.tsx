import { EditorContent, type Editor as Tiptap, useEditor } from "@tiptap/react";
import { useEffect, useRef } from "react";
import type { Overlay } from "../../transport/documents";
import { parts, read, written } from "./markdown";
import { OverlayMarks, overlayMarks } from "./marks";

interface Props {
  text: string;
  label: string;
  overlays: readonly Overlay[];
  onText(text: string): void;
  onEditor(editor: Tiptap | undefined): void;
}

/** Rich text over Markdown. What comes from outside replaces it only when it is another text than was typed here. */
export function Editor({ text, label, overlays, onText, onEditor }: Props) {
  const told = useRef({ onText, onEditor });
  told.current = { onText, onEditor };
  const typed = useRef(text);
  const editor = useEditor({
    extensions: [...parts, OverlayMarks],
    content: read(text),
    editorProps: {
      attributes: {
        "aria-label": label,
        role: "textbox",
        "aria-multiline": "true",
        class: "writer-text",
        "data-autofocus": "",
      },
    },
    onUpdate: ({ editor: e }) => {
      typed.current = written(e.getJSON());
      told.current.onText(typed.current);
    },
  });
  useEffect(() => {
    told.current.onEditor(editor ?? undefined);
    return () => told.current.onEditor(undefined);
  }, [editor]);
  useEffect(() => {
    if (!editor || text === typed.current) return;
    typed.current = text;
    editor.commands.setContent(read(text), { emitUpdate: false });
  }, [editor, text]);
  // The marks are laid again over every text that comes from outside.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new text has new places
  useEffect(() => {
    editor?.view.dispatch(editor.state.tr.setMeta(overlayMarks, overlays).setMeta("addToHistory", false));
  }, [editor, overlays, text]);
  return <EditorContent className="writer-page" editor={editor} />;
}
