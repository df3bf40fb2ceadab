import { type ReactNode, type UIEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import "./virtuallist.css";

/** Pixels drawn above and below what is seen. */
const MARGIN = 300;

/** A list of any length: only the rows that are seen exist. Heights are known beforehand, in pixels. */
export function VirtualList<T>({
  label,
  rows,
  keyOf,
  heightOf,
  reveal,
  onEnd,
  children,
}: {
  label: string;
  rows: readonly T[];
  keyOf(row: T): string;
  heightOf(row: T): number;
  /** Place of a row that is brought into sight when it changes. */
  reveal?: number;
  /** The end is near. */
  onEnd?(): void;
  children(row: T): ReactNode;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(800);
  const offsets = useMemo(() => offsetsOf(rows, heightOf), [rows, heightOf]);
  const total = offsets.at(-1) ?? 0;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const watch = new ResizeObserver(() => setHeight(element.clientHeight));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const from = reveal === undefined ? undefined : offsets[reveal];
  const to = reveal === undefined ? undefined : offsets[reveal + 1];
  useEffect(() => {
    const element = box.current;
    if (!element || from === undefined || to === undefined) return;
    if (from < element.scrollTop || to > element.scrollTop + element.clientHeight) {
      element.scrollTop = from - (element.clientHeight - (to - from)) / 2;
    }
  }, [from, to]);
  const near = rows.length > 0 && total - top - height < MARGIN;
  useEffect(() => {
    if (near) onEnd?.();
  }, [near, onEnd]);
  const first = Math.max(0, after(offsets, top - MARGIN) - 1);
  const last = Math.min(rows.length, after(offsets, top + height + MARGIN));
  return (
    <div className="virtual scroll" ref={box} onScroll={(e: UIEvent) => setTop(e.currentTarget.scrollTop)}>
      <ol aria-label={label} style={{ height: total }}>
        {rows.slice(first, last).map((row, i) => (
          <li
            key={keyOf(row)}
            aria-setsize={rows.length}
            aria-posinset={first + i + 1}
            style={{ top: offsets[first + i], height: heightOf(row) }}
          >
            {children(row)}
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Where each row begins, and where the last one ends. */
function offsetsOf<T>(rows: readonly T[], heightOf: (row: T) => number): number[] {
  const offsets = [0];
  for (const row of rows) offsets.push((offsets.at(-1) ?? 0) + heightOf(row));
  return offsets;
}

/** The first place whose offset is beyond a number of pixels. */
function after(offsets: readonly number[], pixels: number): number {
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((offsets[middle] ?? 0) <= pixels) low = middle + 1;
    else high = middle;
  }
  return low;
}
