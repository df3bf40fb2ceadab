import { Maximize, ZoomIn, ZoomOut } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { nameOf } from "../../domain/path";
import { useWords } from "../../i18n/words";
import { fileAddress } from "../../transport/files";
import { words } from "./i18n";

const STEP = 1.25;
const LARGEST = 16;

/** A picture that fits the window, or is as large as is asked for. */
export function Picture({ path }: { path: string }) {
  const t = useWords(words);
  // Undefined fits the window.
  const [zoom, setZoom] = useState<number>();
  const by = (factor: number) => setZoom(Math.max(0.1, Math.min(LARGEST, (zoom ?? 1) * factor)));
  const press = (e: KeyboardEvent) => {
    if (e.key === "+" || e.key === "=") by(STEP);
    else if (e.key === "-") by(1 / STEP);
    else if (e.key === "0") setZoom(undefined);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the picture; buttons do the same
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <div className="viewer-picture" tabIndex={0} data-autofocus onKeyDown={press}>
      <div className="viewer-stage scroll" data-fit={zoom === undefined}>
        <img src={fileAddress(path)} alt={nameOf(path)} style={zoom ? { width: `${zoom * 100}%` } : undefined} />
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
  );
}
