import { HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { basicSetup } from "codemirror";
import { indentOf } from "../../domain/indent";
import { extensionOf } from "../../domain/path";
import { useStore } from "../../state/store";
import { phrasesIn } from "./phrases";

// In the tokens of the theme, so that every theme has its own.
const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--accent)", fontWeight: "500" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--warn)" },
  { tag: [tags.comment, tags.meta], color: "var(--ink-faint)", fontStyle: "italic" },
  { tag: [tags.definition(tags.variableName), tags.function(tags.variableName), tags.heading], fontWeight: "600" },
  { tag: [tags.typeName, tags.className, tags.tagName], color: "var(--bad)" },
  { tag: tags.link, color: "var(--accent)", textDecoration: "underline" },
]);

const look = EditorView.theme({
  "&": { height: "100%", backgroundColor: "transparent", color: "var(--ink)", fontSize: "13px" },
  ".cm-scroller": { fontFamily: "var(--font-code)", lineHeight: "1.6" },
  ".cm-gutters": { backgroundColor: "var(--paper)", color: "var(--ink-faint)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in oklab, var(--accent), transparent 92%)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--selection) !important" },
  ".cm-panels": { backgroundColor: "var(--paper)", color: "var(--ink)", zIndex: "2" },
  ".cm-panels.cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-panel.cm-search": {
    display: "flex",
    flexWrap: "wrap",
    alignItems: "center",
    gap: "6px",
    padding: "8px 44px 8px 10px",
    fontFamily: "var(--font-ui)",
  },
  ".cm-panel.cm-search br": { flexBasis: "100%", height: "0", content: "''" },
  ".cm-panel.cm-search label": {
    display: "inline-flex",
    alignItems: "center",
    gap: "5px",
    minHeight: "var(--control)",
    padding: "0 4px",
    color: "var(--ink-soft)",
    fontSize: "13px",
  },
  ".cm-panel.cm-search input[type=checkbox]": {
    width: "15px",
    height: "15px",
    margin: "0",
    accentColor: "var(--accent)",
  },
  ".cm-panel .cm-textfield": {
    flex: "1 1 150px",
    minWidth: "0",
    maxWidth: "320px",
    minHeight: "var(--control)",
    margin: "0",
    padding: "0 10px",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius-s)",
    backgroundColor: "var(--surface)",
    fontSize: "13px",
  },
  ".cm-panel .cm-button": {
    minHeight: "var(--control)",
    margin: "0",
    padding: "0 12px",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius-s)",
    background: "var(--surface)",
    color: "var(--ink)",
    fontSize: "13px",
    fontWeight: "500",
  },
  ".cm-panel .cm-button:hover": { background: "var(--hover)" },
  ".cm-panel.cm-search [name=close]": {
    top: "8px",
    right: "8px",
    minWidth: "var(--control)",
    minHeight: "var(--control)",
    borderRadius: "var(--radius-s)",
    color: "var(--ink-soft)",
    fontSize: "18px",
  },
  ".cm-panel.cm-search [name=close]:hover": { background: "var(--hover)" },
  ".cm-searchMatch": { backgroundColor: "var(--warn-wash)", outline: "1px solid var(--warn)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--hover)", border: "0", color: "var(--ink-soft)" },
});

/** Every line of the text ends as on Windows, and is to go on doing so. */
const isCRLF = (text: string) => text.includes("\r\n") && !/[^\r]\n|\r(?!\n)/.test(text);

/** A text to be edited, and the file it is of. */
export interface Setup {
  path: string;
  language: Extension | null;
  label: string;
  text: string;
}

/** What an editor of a file is made of. The keyboard goes to it unless it is only to be looked at. */
export function setupFor({ path, language, label, text }: Setup, lookOnly = false): Extension[] {
  const unit = indentOf(text, extensionOf(path));
  return [
    basicSetup,
    indentUnit.of(unit),
    ...(isCRLF(text) ? [EditorState.lineSeparator.of("\r\n")] : []),
    look,
    phrasesIn(useStore.getState().language),
    syntaxHighlighting(colours),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": label, ...(lookOnly ? {} : { "data-autofocus": "" }) }),
    ...(language ? [language] : []),
  ];
}
