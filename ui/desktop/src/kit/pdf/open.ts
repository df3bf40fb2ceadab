import { GlobalWorkerOptions, getDocument, type PDFDocumentLoadingTask, version } from "pdfjs-dist";
import worker from "pdfjs-dist/build/pdf.worker.min.mjs?url";
import { fileAddress } from "../../transport/files";

GlobalWorkerOptions.workerSrc = worker;

/** Where what is only needed for some files lies: see vite.config.ts. */
const beside = `/assets/pdfjs-${version}`;

/** Bytes that are asked for at once: a large file is read where its pages are, not as a whole. */
const RANGE = 1 << 18;

/** Pictures in a PDF of more pixels than that are left out: each takes four bytes of memory. */
const MOST_PIXELS = 100_000_000;

/** Opens a PDF of the workspace. No script in it runs, and the page's policy allows no WebAssembly, so its decoders are plain script. */
export function openPDF(path: string): PDFDocumentLoadingTask {
  return getDocument({
    url: new URL(fileAddress(path), location.href).href,
    rangeChunkSize: RANGE,
    disableAutoFetch: true,
    disableStream: true,
    maxImageSize: MOST_PIXELS,
    cMapUrl: `${beside}/cmaps/`,
    standardFontDataUrl: `${beside}/standard_fonts/`,
    wasmUrl: `${beside}/wasm/`,
    useWasm: false,
    enableXfa: false,
  });
}
