import type { AppState } from "../manifest";

export const states: readonly AppState[] = [
  { name: "a folder", network: "answers", shows: "[role=option]" },
  { name: "empty", subject: "trash:", network: "answers", shows: "[data-state=empty]" },
  { name: "loading", network: "hangs", shows: "[data-state=loading]" },
  { name: "error", network: "fails", shows: "[data-state=error]" },
  {
    name: "gone",
    of: "gone",
    subject: "workspace/states/gone/",
    removed: true,
    network: "answers",
    shows: "[data-state=gone]",
  },
];
