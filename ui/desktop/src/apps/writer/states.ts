import type { AppState } from "../manifest";

export const states: readonly AppState[] = [
  { name: "empty", network: "answers", shows: "[data-state=empty], .writer-list" },
  {
    name: "a comparison",
    subject: "document:sample",
    network: "answers",
    press: [".writer-head [data-version=before]", ".writer-banner .button"],
    shows: ".cm-mergeView",
  },
  {
    name: "a comment and a proposal",
    subject: "document:sample",
    network: "answers",
    press: [".writer-head [aria-pressed]"],
    shows: ".writer-is-proposal",
  },
  {
    name: "the menu of a document",
    subject: "document:sample",
    network: "answers",
    press: [".writer-head [data-menu]"],
    shows: ".writer-head [data-menu][data-state=open]",
  },
  { name: "a text that is written as Markdown", subject: "document:source", network: "answers", shows: ".cm-content" },
  { name: "a document", subject: "document:sample", network: "answers", shows: ".writer-text h1" },
  { name: "loading", network: "hangs", shows: "[data-state=loading]" },
  { name: "error", network: "fails", shows: "[data-state=error]" },
  { name: "gone", of: "gone", subject: "document:gone", removed: true, network: "answers", shows: "[data-state=gone]" },
  { name: "too large", of: "large", subject: "document:large", network: "answers", shows: ".writer-banner" },
];
