/** The texts of the launcher and its actions. */
export const launcher = {
  search: "Search actions and runs",
  placeholder: "What do you want to do?",
  found: "Actions and runs",
  none: "Nothing is called that.",
  stopRun: "Stop this run",
  toDesktop: "Go to the desktop",
  writePrompt: "Write a prompt",
  playDemo: "Play the recorded demo",
  checkpoint: "Make a checkpoint",
  openTimeline: "Open the timeline",
  recover: "Recover the desktop",
  models: "{models}, and limits",
  toRuns: "Go to {runs}, without the desktop",
} as const;
