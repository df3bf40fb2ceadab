/** The texts of the way out of a broken desktop. */
export const recover = {
  title: "Recover the desktop",
  silent: "The desktop’s page did not say that it is ready. It can be rewritten, so it can break; this page cannot.",
  answers: "The desktop’s page answers. If it still does not do what it should:",
  ways: "Ways out",
  openAgain: "Open the desktop again",
  goOn: "Go on in {runs}, without the desktop",
  chooseMoment: "Choose a moment on the timeline",
  toCheckpoint: "Go back to a checkpoint",
  searching: "Looking for checkpoints…",
  none: "There is no checkpoint yet.",
  list: "Checkpoints",
  line: "{file}, line {n}",
  lastGood: " · the last good one",
  verified: " · verified",
} as const;
