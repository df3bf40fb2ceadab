import type { EventType } from "./contracts";

/** Events that may change the list of marks on the timeline, the last of several that make one. */
const telling: ReadonlySet<EventType> = new Set<EventType>([
  "prompt.submitted",
  "run.finished",
  "task.returned",
  "snapshot.taken",
  "checkpoint.created",
  "timeline.rewound",
  "timeline.undone",
  "timeline.forked",
  "computer.forked",
  "computer.imported",
  "changes.taken",
  "desktop.upgraded",
  "repo.added",
  "theme.changed",
  "window.opened",
  "window.closed",
  "window.moved",
  "window.shown",
  "document.created",
  "document.versioned",
  "document.renamed",
  "document.removed",
]);

/** Whether an event may have made a mark: files have theirs once their snapshot is told of. */
export function tellsOfMark(type: EventType): boolean {
  return telling.has(type);
}
