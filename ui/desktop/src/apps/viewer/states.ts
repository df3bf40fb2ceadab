import type { AppState } from "../manifest";

export const states: readonly AppState[] = [
  { name: "empty", network: "answers", shows: "[data-state=empty]" },
  { name: "a picture", subject: "workspace/states/picture.svg", network: "answers", shows: "img" },
  { name: "a table", subject: "workspace/states/table.csv", network: "answers", shows: "td" },
  { name: "JSON", subject: "workspace/states/value.json", network: "answers", shows: "summary" },
  { name: "loading", subject: "workspace/states/table.csv", network: "hangs", shows: "[data-state=loading]" },
  { name: "error", subject: "workspace/states/table.csv", network: "fails", shows: "[data-state=error]" },
  {
    name: "gone",
    of: "gone",
    subject: "workspace/states/gone.json",
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
