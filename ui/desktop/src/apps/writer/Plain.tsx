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
  const first = useRef(text);
  useEffect(() => {
    if (!box.current) return;
    const listen = EditorView.updateListener.of((u) => u.docChanged && told.current?.(u.state.doc.toString()));
    // A parser for a text of megabytes would be felt.
    const parts = fixed ? [editorLook(label), EditorState.readOnly.of(true)] : [editorLook(label), markdown(), listen];
    const made = new EditorView({
      state: EditorState.create({ doc: first.current, extensions: parts }),
      parent: box.current,
    });
    view.current = made;
    return () => made.destroy();
  }, [label, fixed]);
  // At once, as it is drawn: a key that comes before would make of the text typed here one from outside.
  useLayoutEffect(() => {
    first.current = text;
    const there = view.current;
    if (there && there.state.doc.toString() !== text) {
      there.dispatch({ changes: { from: 0, to: there.state.doc.length, insert: text } });
    }
  }, [text]);
  return <div className="writer-plain" ref={box} />;
}
