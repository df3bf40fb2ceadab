import { type PDFDocumentProxy, type PDFPageProxy, type RenderTask, TextLayer } from "pdfjs-dist";
import { type CSSProperties, useEffect, useRef, useState } from "react";
import type { Pixels } from "../../domain/pixels";
import { useWords } from "../../i18n/words";
import { words } from "../i18n";

/** Pixels that one page is drawn with at most: beyond that a larger page is drawn more coarsely. */
const MOST_DRAWN = 16_000_000;

interface Props {
  doc: PDFDocumentProxy;
  /** Its number, from 1. */
  n: number;
  /** Its size at a scale of 1, as far as it is known. */
  size: Pixels;
  scale: number;
  /** Its size is another one. */
  onSize?(n: number, size: Pixels): void;
}

/** One page: its picture, and above it its words, which can be selected and are read out. */
export function Page({ doc, n, size, scale, onSize }: Props) {
  const t = useWords(words);
  const canvas = useRef<HTMLCanvasElement>(null);
  const text = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<"drawing" | "drawn" | "broken">("drawing");
  useEffect(() => {
    const drawing = new Drawing();
    drawing.draw(doc, n, scale, { canvas: canvas.current, text: text.current }, onSize).then(
      () => setState("drawn"),
      () => drawing.given || setState("broken"),
    );
    return () => drawing.giveUp();
  }, [doc, n, scale, onSize]);
  const of = doc.numPages;
  const style = { width: size.width * scale, height: size.height * scale, "--total-scale-factor": scale };
  return (
    <section className="pdf-page" aria-label={t("pdfPage", { n, of })} data-page={state} style={style as CSSProperties}>
      <canvas ref={canvas} aria-hidden />
      <div ref={text} className="pdf-text" />
      {state === "broken" && <p className="pdf-broken">{t("pdfPageBroken")}</p>}
    </section>
  );
}

/** Where a page is drawn. */
interface Surfaces {
  canvas: HTMLCanvasElement | null;
  text: HTMLDivElement | null;
}

/** The drawing of one page, which can be given up: the page was scrolled past. */
class Drawing {
  given = false;
  private page: PDFPageProxy | undefined;
  private task: RenderTask | undefined;
  private layer: TextLayer | undefined;

  async draw(
    doc: PDFDocumentProxy,
    n: number,
    scale: number,
    { canvas, text }: Surfaces,
    onSize: Props["onSize"],
  ): Promise<void> {
    const page = await doc.getPage(n);
    this.page = page;
    if (this.given || !canvas || !text) return;
    const { width, height } = page.getViewport({ scale: 1 });
    onSize?.(n, { width, height });
    const viewport = page.getViewport({ scale });
    const ratio = Math.min(devicePixelRatio, Math.sqrt(MOST_DRAWN / (viewport.width * viewport.height)));
    canvas.width = Math.max(1, Math.floor(viewport.width * ratio));
    canvas.height = Math.max(1, Math.floor(viewport.height * ratio));
    this.task = page.render({ canvas, viewport, transform: [ratio, 0, 0, ratio, 0, 0] });
    await this.task.promise;
    if (this.given) return;
    text.replaceChildren();
    this.layer = new TextLayer({ textContentSource: page.streamTextContent(), container: text, viewport });
    await this.layer.render();
  }

  giveUp(): void {
    this.given = true;
    this.task?.cancel();
    this.layer?.cancel();
    this.page?.cleanup();
  }
}
