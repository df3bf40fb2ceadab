import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { minimalSetup } from "codemirror";

/** How Markdown looks as it is written; the keyboard goes to the main one of two. */
export const editorLook = (label: string, main = true): Extension[] => [
  minimalSetup,
  EditorView.lineWrapping,
  EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", ...(main ? { "data-autofocus": "" } : {}) }),
  EditorView.theme({
    "&": { height: "100%", backgroundColor: "transparent", color: "var(--ink)", fontSize: "13.5px" },
    ".cm-scroller": { fontFamily: "var(--font-code)", lineHeight: "1.65" },
    ".cm-cursor": { borderLeftColor: "var(--ink)" },
  }),
];
