import { MergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { useEffect, useRef } from "react";
import { editorLook } from "./plainlook";

/** Two versions beside each other. */
export default function Sides({ left, right, names }: { left: string; right: string; names: [string, string] }) {
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
