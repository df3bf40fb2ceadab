import type { AppState } from "../manifest";

export const states: readonly AppState[] = [
  { name: "themes", network: "answers", shows: ".settings-theme" },
  { name: "loading", network: "hangs", shows: ".settings-theme" },
  { name: "error", network: "fails", shows: ".settings-theme" },
];
