import type { AppState } from "../manifest";

export const states: readonly AppState[] = [
  { name: "empty", network: "answers", shows: "[data-state=empty]" },
  { name: "nothing listens", of: "gone", subject: "http://localhost:9/", network: "answers", shows: ".preview-page" },
  { name: "loading", subject: "http://localhost:9/", network: "hangs", shows: "[data-state=loading]" },
  { name: "error", subject: "http://localhost:9/", network: "fails", shows: "[data-state=error]" },
];
