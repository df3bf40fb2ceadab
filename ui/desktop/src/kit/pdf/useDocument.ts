import type { PDFDocumentProxy } from "pdfjs-dist";
import { useEffect, useState } from "react";
import type { Pixels } from "../../domain/pixels";
import { openPDF } from "./open";

/** A PDF on its way, open, or why it cannot be. */
export type Opened =
  | { is: "opening" }
  | { is: "open"; doc: PDFDocumentProxy; first: Pixels }
  | { is: "failed"; why: "pdfBroken" | "pdfLocked" | "pdfNotRead" };

/** Opens a PDF, and lets go of it when nobody shows it any more. */
export function useDocument(path: string): Opened {
  const [opened, setOpened] = useState<Opened>({ is: "opening" });
  useEffect(() => {
    let here = true;
    const task = openPDF(path);
    const open = async () => {
      const doc = await task.promise;
      const { width, height } = (await doc.getPage(1)).getViewport({ scale: 1 });
      if (here) setOpened({ is: "open", doc, first: { width, height } });
    };
    open().catch((error: unknown) => here && setOpened({ is: "failed", why: whyOf(error) }));
    return () => {
      here = false;
      // Nobody sees the document any more, so nobody misses what is left of it.
      task.destroy().catch(() => undefined);
    };
  }, [path]);
  return opened;
}

function whyOf(error: unknown): "pdfBroken" | "pdfLocked" | "pdfNotRead" {
  const name = error instanceof Error ? error.name : "";
  if (name === "PasswordException") return "pdfLocked";
  return name === "ResponseException" || name === "AbortException" ? "pdfNotRead" : "pdfBroken";
}
