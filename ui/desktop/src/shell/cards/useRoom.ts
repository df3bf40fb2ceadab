import { type CSSProperties, type RefObject, useLayoutEffect, useMemo, useState } from "react";
import { buttonsSeen, type Column, roomForCards } from "../../domain/cardroom";
import { NARROW } from "../../domain/wmplace";
import { useStore } from "../../state/store";

/** Pixels between the cards and the prompt, as in cards.css. */
const ABOVE = 14;

/** How high the cards may be, and how far aside they go, so that they hide no button of a window's title bar. */
export function useRoom(cards: RefObject<HTMLElement | null>, shown: boolean): CSSProperties {
  const area = useStore((s) => s.area);
  const windows = useStore((s) => s.windows);
  const desktop = useStore((s) => s.desktop);
  const [column, setColumn] = useState<Column>();
  useLayoutEffect(() => {
    const prompt = cards.current?.parentElement;
    if (!prompt || !shown) return;
    const measure = () => {
      const { left, width, top } = prompt.getBoundingClientRect();
      const x = Math.round(left);
      const bottom = Math.round(top - ABOVE);
      setColumn((now) => (now?.x === x && now.width === width && now.bottom === bottom ? now : { x, width, bottom }));
    };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(prompt);
    watch.observe(document.documentElement);
    return () => watch.disconnect();
  }, [cards, shown]);
  return useMemo(() => {
    // A narrow page shows one app at a time, and the cards as a sheet over it.
    if (!column || area.width <= NARROW) return {};
    const { aside, height } = roomForCards(column, buttonsSeen(windows, desktop, area), area);
    return { "--room": `${height}px`, "--aside": `${aside}px` } as CSSProperties;
  }, [column, area, windows, desktop]);
}
