import type { AppState } from "../manifest";

export const states: readonly AppState[] = [
  { name: "now", network: "answers", shows: ".timeline-mark" },
  { name: "an earlier moment", subject: "moment:5", network: "answers", shows: ".timeline-then dl" },
  { name: "loading", network: "hangs", shows: "[data-state=loading]" },
  { name: "error", network: "fails", shows: "[data-state=error]" },
  { name: "gone", of: "gone", subject: "moment:9000000000000", network: "answers", shows: "[data-state=gone]" },
];
