import type { AppState } from "../manifest";

export const states: readonly AppState[] = [
  { name: "steps of a run", subject: "run:latest", network: "answers", shows: ".trace-step" },
  { name: "loading", subject: "run:latest", network: "hangs", shows: "[data-state=loading]" },
  { name: "error", subject: "run:latest", network: "fails", shows: "[data-state=error]" },
  {
    name: "gone",
    of: "gone",
    subject: "run:01900000-0000-7000-8000-000000000000",
    network: "answers",
    shows: "[data-state=gone]",
  },
];
