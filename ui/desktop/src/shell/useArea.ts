import { useLayoutEffect } from "react";
import { useStore } from "../state/store";

/** The store knows how much space windows have. */
export function useArea(ref: React.RefObject<HTMLDivElement | null>): void {
  const setArea = useStore((s) => s.setArea);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = () => setArea({ width: element.clientWidth, height: element.clientHeight });
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, [ref, setArea]);
}
