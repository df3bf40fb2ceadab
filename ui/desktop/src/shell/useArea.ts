import { useLayoutEffect } from "react";
import { isRTL } from "../domain/theme";
import { useStore } from "../state/store";

/** The store knows how much space windows have, and at which end their buttons are. */
export function useArea(ref: React.RefObject<HTMLDivElement | null>): void {
  const setArea = useStore((s) => s.setArea);
  const rtl = useStore((s) => isRTL(s.settings.get("dir") ?? ""));
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = () => setArea({ width: element.clientWidth, height: element.clientHeight, rtl });
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, [ref, setArea, rtl]);
}
