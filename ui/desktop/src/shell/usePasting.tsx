import type { ClipboardEvent, ReactNode } from "react";

/** What is offered for something pasted. */
export function usePasting(): { offer: ReactNode; onPaste(e: ClipboardEvent): void } {
  return { offer: null, onPaste: () => {} };
}
