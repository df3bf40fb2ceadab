import { ImageOff, Maximize, ZoomIn, ZoomOut } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { nameOf } from "../../domain/path";
import { MOST_PIXELS, type Pixels, shownAs } from "../../domain/pixels";
import { useWords } from "../../i18n/words";
import { Empty, Loading } from "../../kit/States";
import { useStore } from "../../state/store";
import { fileAddress, files } from "../../transport/files";
import { words } from "./i18n";

const STEP = 1.25;
const LARGEST = 16;

/** A picture that fits the window, or is as large as is asked for. */
export function Picture({ path }: { path: string }) {
  const t = useWords(words);
  const size = usePixels(path);
  // Undefined fits the window.
  const [zoom, setZoom] = useState<number>();
  const by = (factor: number) => setZoom(Math.max(0.1, Math.min(LARGEST, (zoom ?? 1) * factor)));
  const press = (e: KeyboardEvent) => {
    if (e.key === "+" || e.key === "=") by(STEP);
    else if (e.key === "-") by(1 / STEP);
    else if (e.key === "0") setZoom(undefined);
  };
  if (!size) return <Loading />;
  const as = size === "broken" ? size : shownAs(size);
  if (size === "broken" || as === "broken") return <NotShown title={t("notPicture")} more={t("unknownMore")} />;
  if (as === "never") {
    const millions = Math.round((size.width * size.height) / 1e6);
    const more = t("tooManyPixelsMore", { ...size, millions, most: MOST_PIXELS / 1e6 });
    return <NotShown title={t("tooManyPixels")} more={`${more} ${t("unknownMore")}`} />;
  }
  const style = zoom ? { width: `${zoom * 100}%` } : undefined;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the picture; buttons do the same
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <div className="viewer-picture" tabIndex={0} data-autofocus onKeyDown={press}>
      <div className="viewer-frame">
        <div className="viewer-stage scroll" data-fit={zoom === undefined}>
          {as === "whole" ? (
            <img src={fileAddress(path)} alt={nameOf(path)} style={style} />
          ) : (
            <Shrunk path={path} as={as} style={style} />
          )}
        </div>
        <div className="viewer-zoom">
          <button type="button" className="tool" aria-label={t("smaller")} onClick={() => by(1 / STEP)}>
            <ZoomOut size={17} aria-hidden />
          </button>
          <button type="button" className="tool" aria-label={t("fit")} onClick={() => setZoom(undefined)}>
            <Maximize size={16} aria-hidden />
          </button>
          <button type="button" className="tool" aria-label={t("larger")} onClick={() => by(STEP)}>
            <ZoomIn size={17} aria-hidden />
          </button>
        </div>
      </div>
      {as !== "whole" && <Bounded size={size} as={as} />}
    </div>
  );
}

function NotShown({ title, more }: { title: string; more: string }) {
  return (
    <Empty icon={<ImageOff size={38} strokeWidth={1.4} aria-hidden />} title={title}>
      {more}
    </Empty>
  );
}

/** Says that not all of a picture's pixels are shown. */
function Bounded({ size, as }: { size: Pixels; as: Pixels }) {
  const t = useWords(words);
  const language = useStore((s) => s.language);
  const told = (n: number) => Math.round(n).toLocaleString(language);
  const values = { width: told(size.width), height: told(size.height), w: told(as.width), h: told(as.height) };
  return (
    <p className="viewer-note" role="note">
      {t("shrunk", { ...values, mb: told((size.width * size.height * 4) / 1e6) })}
    </p>
  );
}

/** How many pixels a picture has. The browser knows once it has read it; it draws none of them before it is shown. */
function usePixels(path: string): Pixels | "broken" | undefined {
  const [size, setSize] = useState<Pixels | "broken">();
  useEffect(() => {
    const image = new Image();
    image.onload = () => setSize({ width: image.naturalWidth, height: image.naturalHeight });
    image.onerror = () => setSize("broken");
    image.src = fileAddress(path);
    return () => {
      image.onload = null;
      image.onerror = null;
    };
  }, [path]);
  return size;
}

/** A smaller picture that is made of a large one, which is let go at once. */
function Shrunk({ path, as, style }: { path: string; as: Pixels; style: { width: string } | undefined }) {
  const t = useWords(words);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [state, setState] = useState<"reading" | "drawn" | "failed">("reading");
  const { width, height } = as;
  useEffect(() => {
    const stop = new AbortController();
    const draw = async () => {
      const content = await (await files.read(path, stop.signal)).blob();
      const small = await createImageBitmap(content, { resizeWidth: width, resizeHeight: height });
      canvas.current?.getContext("2d")?.drawImage(small, 0, 0);
      small.close();
      setState("drawn");
    };
    draw().catch(() => !stop.signal.aborted && setState("failed"));
    return () => stop.abort();
  }, [path, width, height]);
  if (state === "failed") return <NotShown title={t("notPicture")} more={t("unknownMore")} />;
  return (
    <>
      {state === "reading" && <Loading />}
      <canvas
        ref={canvas}
        role="img"
        aria-label={nameOf(path)}
        width={width}
        height={height}
        style={style}
        hidden={state === "reading"}
      />
    </>
  );
}
