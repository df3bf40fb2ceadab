import { EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useLayoutEffect, useRef } from "react";
import { unawaited } from "#base/kit/unawaited.ts";
import { nextTask } from "../../kit/nextTask";
import { fromOutside, showText } from "./outside";
import { setupFor } from "./setup";

interface Props {
  path: string;
  language: Extension | null;
  text: string;
  label: string;
  onText(text: string): void;
  onPlace(place: { line: number; column: number }): void;
}

/** The text of a file. What comes from outside replaces it only when it is another one. */
export default function Editor({ path, language, text, label, onText, onPlace }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const told = useRef({ onText, onPlace });
  told.current = { onText, onPlace };
  const first = useRef(text);
  first.current = text;
  useEffect(() => {
    if (!box.current) return;
    const listen = EditorView.updateListener.of((u) => {
      const outside = u.transactions.some((tr) => tr.annotation(fromOutside));
      if (u.docChanged && !outside) told.current.onText(u.state.sliceDoc());
      if (u.docChanged || u.selectionSet) {
        const head = u.state.selection.main.head;
        const line = u.state.doc.lineAt(head);
        told.current.onPlace({ line: line.number, column: head - line.from + 1 });
      }
    });
    const state = EditorState.create({
      doc: first.current,
      extensions: [setupFor({ path, language, label, text: first.current }), listen],
    });
    let gone = false;
    const build = async () => {
      await nextTask();
      if (gone || !box.current) return;
      view.current = new EditorView({ state, parent: box.current });
      // What came meanwhile.
      showText(view.current, first.current);
    };
    unawaited(build());
    return () => {
      gone = true;
      view.current?.destroy();
      view.current = undefined;
    };
  }, [path, language, label]);
  // At once, as it is drawn: a key that comes before would make of the text typed here one from outside.
  useLayoutEffect(() => {
    if (view.current) showText(view.current, text);
  }, [text]);
  return <div className="code-editor" ref={box} />;
}
