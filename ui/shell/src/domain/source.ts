import type { Event } from "#base/domain/contracts.ts";
import type { Schema } from "#base/domain/operations.ts";

/** Something that broke, of the run whose change of the source came last. */
export type Broke = Schema<"ComputerBroke">;

/** How the server serves the desktop, and what the newest change of its source broke. */
export type Source = Schema<"SourceView">;

/** What an upgrade of the desktop's source did, or would do. */
export type Upgrade = Schema<"UpgradeView">;

/** What an upgrade does to a file of the desktop's source. */
export type Fate = Upgrade["files"][number]["fate"];

type FateKey = `desktop.fate${Capitalize<Fate>}`;

/** The fates in the order in which they are told, each with the key of its words. */
export const fates: readonly { fate: Fate; words: FateKey }[] = [
  { fate: "conflict", words: "desktop.fateConflict" },
  { fate: "merged", words: "desktop.fateMerged" },
  { fate: "updated", words: "desktop.fateUpdated" },
  { fate: "added", words: "desktop.fateAdded" },
  { fate: "removed", words: "desktop.fateRemoved" },
  { fate: "kept", words: "desktop.fateKept" },
];

/** The paths of an upgrade by fate, without fates that nothing has. */
export function byFate(files: Upgrade["files"]): { fate: Fate; words: FateKey; paths: string[] }[] {
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
