import type { Event, ID } from "#base/domain/contracts.ts";

/** Something that broke, of the run whose change of the source came last. */
export interface Broke {
  seq: number;
  run?: ID;
  /** That run has not ended. */
  open?: boolean;
  message: string;
  file?: string;
  line?: number;
}

/** How the server serves the desktop, and what the newest change of its source broke. */
export interface Source {
  mode: "shipped" | "live" | "broken";
  error?: string;
  file?: string;
  remedy?: string;
  /** What broke of the source as it is, in words that nobody vouches for. */
  broke?: Broke;
  /** This choir carries a newer source than the workspace's was made of. */
  outdated?: boolean;
}

/** What an upgrade does to a file of the desktop's source. */
export type Fate = "updated" | "merged" | "added" | "removed" | "kept" | "conflict";

/** What an upgrade of the desktop's source did, or would do. */
export interface Upgrade {
  files: { path: string; fate: Fate }[];
  seq?: number;
  back_seq?: number;
  /** Terminals that are open and end with it. */
  terminals?: number;
}

/** The fates in the order in which they are told, each in words. */
export const fates: readonly { fate: Fate; words: string }[] = [
  { fate: "conflict", words: "Changed on both sides in the same place, stays as it is" },
  { fate: "merged", words: "Changed on both sides, brought together" },
  { fate: "updated", words: "Updated" },
  { fate: "added", words: "Added" },
  { fate: "removed", words: "Removed" },
  { fate: "kept", words: "Changed here only, kept" },
];

/** The paths of an upgrade by fate, without fates that nothing has. */
export function byFate(files: Upgrade["files"]): { fate: Fate; words: string; paths: string[] }[] {
  return fates
    .map((f) => ({ ...f, paths: files.filter((one) => one.fate === f.fate).map((one) => one.path) }))
    .filter((f) => f.paths.length > 0);
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
    case "desktop.upgraded":
    case "desktop.broke":
      return true;
    default:
      return false;
  }
}

/** Whether the page in the frame is another than the one that is served now. */
export function outdated(shown: Source | undefined, now: Source): boolean {
  return shown !== undefined && (shown.mode === "live") !== (now.mode === "live");
}
