import type { AppState } from "../manifest";

export const states: readonly AppState[] = [
  { name: "steps of a run", subject: "run:latest", network: "answers", shows: ".trace-step" },
  { name: "loading", subject: "run:latest", network: "hangs", shows: "[data-state=loading]" },
  { name: "error", subject: "run:latest", network: "fails", shows: "[data-state=error]" },
];
