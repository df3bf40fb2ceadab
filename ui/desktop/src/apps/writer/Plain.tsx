import { markdown } from "@codemirror/lang-markdown";
import { MergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { minimalSetup } from "codemirror";
import { useEffect, useMemo, useRef } from "react";
import { folded } from "./markdown";

const editorLook = (label: string, main = true): Extension[] => [
  minimalSetup,
  EditorView.lineWrapping,
  EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", ...(main ? { "data-autofocus": "" } : {}) }),
  EditorView.theme({
    "&": { height: "100%", backgroundColor: "transparent", color: "var(--ink)", fontSize: "13.5px" },
    ".cm-scroller": { fontFamily: "var(--font-code)", lineHeight: "1.65" },
    ".cm-cursor": { borderLeftColor: "var(--ink)" },
  }),
];

/** Markdown as it is written, or only shown; what is seen of it is laid out, so its length does not matter. */
export function Plain({ text: given, label, onText }: { text: string; label: string; onText?(text: string): void }) {
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
  useEffect(() => {
    first.current = text;
    const there = view.current;
    if (there && there.state.doc.toString() !== text) {
      there.dispatch({ changes: { from: 0, to: there.state.doc.length, insert: text } });
    }
  }, [text]);
  return <div className="writer-plain" ref={box} />;
}

/** Two versions beside each other. */
export function Sides({ left, right, names }: { left: string; right: string; names: [string, string] }) {
  const box = useRef<HTMLDivElement>(null);
  const [a, b] = names;
  useEffect(() => {
    if (!box.current) return;
    const fixed = EditorState.readOnly.of(true);
    const view = new MergeView({
      a: { doc: left, extensions: [editorLook(a, false), fixed] },
      b: { doc: right, extensions: [editorLook(b), fixed] },
      parent: box.current,
      collapseUnchanged: { margin: 3, minSize: 6 },
      // What takes longer is shown as changed as a whole.
      diffConfig: { scanLimit: 500, timeout: 100 },
    });
    return () => view.destroy();
  }, [left, right, a, b]);
  return (
    <div className="writer-sides">
      <div className="writer-names">
        <span>{a}</span>
        <span>{b}</span>
      </div>
      <div className="writer-merge scroll" ref={box} />
    </div>
  );
}
