import type { AppState } from "../manifest";

export const states: readonly AppState[] = [
  { name: "empty", network: "answers", shows: "[data-state=empty], .writer-list" },
  { name: "loading", network: "hangs", shows: "[data-state=loading]" },
  { name: "error", network: "fails", shows: "[data-state=error]" },
];
