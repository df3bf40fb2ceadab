import { markdown } from "@codemirror/lang-markdown";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useLayoutEffect, useMemo, useRef } from "react";
import { folded } from "./folded";
import { editorLook } from "./plainlook";

/** Markdown as it is written, or only shown; what is seen of it is laid out, so its length does not matter. */
export default function Plain({
  text: given,
  label,
  onText,
}: {
  text: string;
  label: string;
  onText?(text: string): void;
}) {
  const fixed = onText === undefined;
  const text = useMemo(() => (fixed ? folded(given) : given), [fixed, given]);
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const told = useRef(onText);
  told.current = onText;
  // The text that the editor has: of megabytes, it is made and compared no more often than needed.
  const has = useRef(text);
  useEffect(() => {
    if (!box.current) return;
    const listen = EditorView.updateListener.of((u) => {
      const now = u.docChanged ? u.state.doc.toString() : has.current;
      if (now === has.current) return;
      has.current = now;
      told.current?.(now);
    });
    // A parser for a text of megabytes would be felt.
    const parts = fixed ? [editorLook(label), EditorState.readOnly.of(true)] : [editorLook(label), markdown(), listen];
    const made = new EditorView({
      state: EditorState.create({ doc: has.current, extensions: parts }),
      parent: box.current,
    });
    view.current = made;
    return () => made.destroy();
  }, [label, fixed]);
  // At once, as it is drawn: a key that comes before would make of the text typed here one from outside.
  useLayoutEffect(() => {
    if (text === has.current) return;
    has.current = text;
    const there = view.current;
    there?.dispatch({ changes: { from: 0, to: there.state.doc.length, insert: text } });
  }, [text]);
  return <div className="writer-plain" ref={box} />;
}
