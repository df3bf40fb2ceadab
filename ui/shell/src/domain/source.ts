import type { Event } from "./contracts";

/** How the server serves the desktop, and what the newest change of its source broke. */
export interface Source {
  mode: "shipped" | "live" | "broken";
  error?: string;
  file?: string;
  remedy?: string;
}

const FOLDER = "choiros/";

/** Whether an event may have changed the desktop's source. */
export function touchesSource(event: Event): boolean {
  switch (event.type) {
    case "file.written":
      return event.payload.files.some((f) => f.path.startsWith(FOLDER));
    case "file.removed":
      return event.payload.paths.some((p) => p.startsWith(FOLDER));
    case "timeline.rewound":
    case "timeline.undone":
    case "changes.taken":
      return true;
    default:
      return false;
  }
}

/** Whether the page in the frame is another than the one that is served now. */
export function outdated(shown: Source | undefined, now: Source): boolean {
  return shown !== undefined && (shown.mode === "live") !== (now.mode === "live");
}
