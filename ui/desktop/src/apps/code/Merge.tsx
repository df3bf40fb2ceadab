import { MergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useLayoutEffect, useRef } from "react";
import { fromOutside, showText } from "./outside";
import { setupFor } from "./setup";

interface Props {
  path: string;
  language: Extension | null;
  other: string;
  mine: string;
  otherName: string;
  mineName: string;
  onMine(text: string): void;
}

/** Two versions beside each other; parts of the other one can be taken over into mine. */
export default function Merge({ path, language, other, mine, otherName, mineName, onMine }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const told = useRef(onMine);
  told.current = onMine;
  const first = useRef(mine);
  first.current = mine;
  const side = useRef<EditorView>(undefined);
  useEffect(() => {
    if (!box.current) return;
    const listen = EditorView.updateListener.of((u) => {
      const outside = u.transactions.some((tr) => tr.annotation(fromOutside));
      if (u.docChanged && !outside) told.current(u.state.sliceDoc());
    });
    const view = new MergeView({
      a: {
        doc: other,
        extensions: [setupFor({ path, language, label: otherName, text: other }, true), EditorState.readOnly.of(true)],
      },
      b: {
        doc: first.current,
        extensions: [setupFor({ path, language, label: mineName, text: first.current }), listen],
      },
      parent: box.current,
      revertControls: "a-to-b",
      collapseUnchanged: { margin: 3, minSize: 6 },
    });
    side.current = view.b;
    return () => view.destroy();
  }, [path, language, other, otherName, mineName]);
  // What was typed in another browser goes on here; at once, or a key that comes before would be lost.
  useLayoutEffect(() => {
    if (side.current) showText(side.current, mine);
  }, [mine]);
  return (
    <div className="code-merge">
      <div className="code-sides">
        <span>{otherName}</span>
        <span>{mineName}</span>
      </div>
      <div className="code-merge-body scroll" ref={box} />
    </div>
  );
}
