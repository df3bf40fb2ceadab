import { type KeyboardEvent, useMemo, useRef } from "react";
import { atEdge, type Recall, recall } from "../domain/history";
import { useStore } from "../state/store";

const fresh: Recall = { at: undefined, draft: "" };

/** Up and down go through what was asked: the runs of this computer remember it. */
export function useHistory() {
  const runs = useStore((s) => s.runs);
  const now = useRef(fresh);
  const asked = useRef<string[]>([]);
  return useMemo(() => {
    const entries = () => {
      const before = runs.map((r) => r.prompt).reverse();
      return [...before, ...asked.current.filter((t) => !before.includes(t))];
    };
    return {
      add(text: string) {
        asked.current.push(text);
        now.current = fresh;
      },
      /** What the box shows after a key; undefined when the key means something else. */
      press(e: KeyboardEvent<HTMLTextAreaElement>, text: string): string | undefined {
        const way = e.key === "ArrowUp" ? "up" : e.key === "ArrowDown" ? "down" : undefined;
        if (!way) {
          now.current = fresh;
          return undefined;
        }
        const box = e.currentTarget;
        if (e.altKey || e.ctrlKey || e.metaKey || e.shiftKey || !atEdge(text, box.selectionStart, way))
          return undefined;
        const found = recall(entries(), now.current, text, way);
        if (!found) return undefined;
        e.preventDefault();
        now.current = found.recall;
        return found.text;
      },
    };
  }, [runs]);
}
