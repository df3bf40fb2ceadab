import type { AppState } from "../manifest";

export const states: readonly AppState[] = [
  { name: "a shell", network: "answers", shows: ".xterm" },
  { name: "ended", of: "gone", subject: "terminal:none", network: "answers", shows: "[data-state=empty]" },
  { name: "loading", network: "hangs", shows: "[data-state=loading]" },
  { name: "error", network: "fails", shows: "[data-state=error]" },
];
