import type { AppState } from "../manifest";

export const states: readonly AppState[] = [
  { name: "empty", network: "answers", shows: "[data-state=empty]" },
  { name: "a file", subject: "workspace/states/main.go", network: "answers", shows: ".cm-content" },
  { name: "loading", subject: "workspace/states/main.go", network: "hangs", shows: "[data-state=loading]" },
  { name: "error", subject: "workspace/states/main.go", network: "fails", shows: "[data-state=error]" },
  {
    name: "gone",
    of: "gone",
    subject: "workspace/states/gone.go",
    removed: true,
    network: "answers",
    shows: "[data-state=gone]",
  },
  {
    name: "too large",
    of: "large",
    subject: "workspace/states/large.json",
    network: "answers",
    shows: "[data-state=large]",
  },
];
