import { EditorContent, type Editor as Tiptap } from "@tiptap/react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Overlay } from "../../transport/documents";
import { laidOut, type Reading, readingOf, written } from "./markdown";
import { overlayMarks } from "./marks";
import { draw, newEditor, rename } from "./richtext";
import "#base/kit/markdown.css";

/** An editor that was made before it is shown, and what it was made of. */
export interface MadeAhead {
  reading: Reading;
  /** It is shown once only; then it is gone. */
  editor: Tiptap | undefined;
}

interface Props {
  text: string;
  ahead: MadeAhead | undefined;
  label: string;
  overlays: readonly Overlay[];
  onText(text: string): void;
  onEditor(editor: Tiptap | undefined): void;
}

/** Makes the editor of a text, or takes the one that was made of it before. */
function begin(text: string, ahead: MadeAhead | undefined, label: string) {
  const reading = ahead?.reading.text === text ? ahead.reading : readingOf(text);
  const laid = laidOut(reading.back);
  const made = reading === ahead?.reading ? ahead.editor : undefined;
  if (ahead) ahead.editor = undefined;
  if (made) return { editor: made, laid };
  const editor = newEditor(reading, label);
  draw(editor);
  return { editor, laid };
}

/** Rich text over Markdown. What comes from outside replaces it only when it is another text than was typed here. */
export function Editor({ text, ahead, label, overlays, onText, onEditor }: Props) {
  const told = useRef({ onText, onEditor });
  told.current = { onText, onEditor };
  const [{ editor, laid }] = useState(() => begin(text, ahead, label));
  const typed = useRef(text);
  // The text from outside, and what the editor makes of it untouched: laying it out is no writing.
  const given = useRef({ text, laid });
  // Before anything can be typed in it.
  useLayoutEffect(() => {
    const hear = () => {
      const now = written(editor.getJSON());
      const same = laidOut(now) === given.current.laid;
      const before = typed.current;
      typed.current = same ? given.current.text : now;
      if (typed.current !== before) told.current.onText(typed.current);
    };
    editor.on("update", hear);
    return () => {
      editor.off("update", hear);
    };
  }, [editor]);
  useEffect(() => () => editor.destroy(), [editor]);
  const named = useRef(label);
  useEffect(() => {
    if (named.current !== label) rename(editor, label);
    named.current = label;
  }, [editor, label]);
  useEffect(() => {
    told.current.onEditor(editor);
    return () => told.current.onEditor(undefined);
  }, [editor]);
  // At once, as it is drawn: a key that comes before would make of the text typed here one from outside.
  useLayoutEffect(() => {
    if (text === typed.current) return;
    typed.current = text;
    const { content, back } = readingOf(text);
    given.current = { text, laid: laidOut(back) };
    editor.commands.setContent(content, { emitUpdate: false });
  }, [editor, text]);
  // The marks are laid again over every text that comes from outside.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new text has new places
  useEffect(() => {
    editor.view.dispatch(editor.state.tr.setMeta(overlayMarks, overlays).setMeta("addToHistory", false));
  }, [editor, overlays, text]);
  return <EditorContent className="writer-page" editor={editor} />;
}
