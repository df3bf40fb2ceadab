import { useVirtualizer } from "@tanstack/react-virtual";
import { MoveHorizontal, ZoomIn, ZoomOut } from "lucide-react";
import type { PDFDocumentProxy } from "pdfjs-dist";
import { type KeyboardEvent, useCallback, useLayoutEffect, useRef, useState } from "react";
import type { Pixels } from "../../domain/pixels";
import { useWords } from "../../i18n/words";
import { words } from "../i18n";
import { Page } from "./Page";
import { Place } from "./Place";

const STEP = 1.25;
const LARGEST = 8;

/** Room beside pages, and between them, in CSS pixels. */
const ROOM = 16;

/** No browser draws what lies further down than that, in CSS pixels. */
const LOWEST = 16_000_000;

/** The pages of a PDF below each other; only those exist that are seen. */
export function Pages({ doc, first, name }: { doc: PDFDocumentProxy; first: Pixels; name: string }) {
  const t = useWords(words);
  const box = useRef<HTMLDivElement>(null);
  const width = useWidthOf(box);
  const [zoom, setZoom] = useState(1);
  // Pages are as large as the first until they are known.
  const [sizes, setSizes] = useState<ReadonlyMap<number, Pixels>>(new Map());
  const pages = doc.numPages;
  const fits = Math.max(0.05, (width - 2 * ROOM) / first.width);
  const scale = Math.min(fits * zoom, LOWEST / (pages * (first.height + ROOM)));
  const sizeOf = (at: number) => sizes.get(at + 1) ?? first;
  const seen = useVirtualizer({
    count: width > 0 ? pages : 0,
    getScrollElement: () => box.current,
    estimateSize: (at) => sizeOf(at).height * scale + ROOM,
    overscan: 1,
    paddingStart: ROOM,
  });
  const know = useCallback(
    (n: number, size: Pixels) =>
      setSizes((known) => {
        const now = known.get(n) ?? first;
        return now.width === size.width && now.height === size.height ? known : new Map(known).set(n, size);
      }),
    [first],
  );
  const drawn = seen.getVirtualItems();
  const middle = (seen.scrollOffset ?? 0) + (seen.scrollRect?.height ?? 0) / 2;
  const at = seen.getVirtualItemForOffset(middle)?.index ?? 0;
  const goTo = (page: number) => {
    const [offset = 0] = seen.getOffsetForIndex(page - 1, "start") ?? [];
    box.current?.scrollTo({ top: offset - ROOM / 2 });
  };
  const before = useRef(scale);
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured anew when a scale or a size is another
  useLayoutEffect(() => {
    seen.measure();
    // Whatever the scale, what was looked at stays in sight.
    if (box.current) box.current.scrollTop *= scale / before.current;
    before.current = scale;
  }, [scale, sizes]);
  const by = (factor: number) => setZoom((z) => Math.max(0.2, Math.min(LARGEST, z * factor)));
  const press = (e: KeyboardEvent) => {
    if (e.target instanceof HTMLInputElement) return;
    if (e.key === "+" || e.key === "=") by(STEP);
    else if (e.key === "-") by(1 / STEP);
    else if (e.key === "0") setZoom(1);
  };
  const label = t("pdfPages", { name });
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the pages; buttons do the same
    <div className="pdf" onKeyDown={press}>
      <div className="pdf-tools">
        <Place at={at + 1} of={pages} onGo={goTo} />
        <span className="spread" />
        <button type="button" className="tool" aria-label={t("smaller")} onClick={() => by(1 / STEP)}>
          <ZoomOut size={17} aria-hidden />
        </button>
        <button type="button" className="tool" aria-label={t("fitWidth")} onClick={() => setZoom(1)}>
          <MoveHorizontal size={17} aria-hidden />
        </button>
        <button type="button" className="tool" aria-label={t("larger")} onClick={() => by(STEP)}>
          <ZoomIn size={17} aria-hidden />
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <section className="pdf-box scroll" ref={box} tabIndex={0} aria-label={label} data-autofocus>
        <div className="pdf-pages" style={{ height: seen.getTotalSize() + ROOM }}>
          {drawn.map(({ index, start }) => (
            <div key={index} className="pdf-place" style={{ top: start }}>
              <Page doc={doc} n={index + 1} size={sizeOf(index)} scale={scale} onSize={know} />
            </div>
          ))}
        </div>
      </section>
    </div>
  );
}

/** The width of a box as it is drawn, in CSS pixels; 0 before. */
function useWidthOf(box: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const watch = new ResizeObserver(() => setWidth(element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, [box]);
  return width;
}
