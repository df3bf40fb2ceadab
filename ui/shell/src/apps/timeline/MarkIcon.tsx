import {
  AppWindow,
  Circle,
  CircleCheck,
  CircleSlash,
  CircleX,
  FilePen,
  FileText,
  FolderGit2,
  GitCommitHorizontal,
  GitFork,
  Hammer,
  History,
  Import,
  type LucideIcon,
  MessageCircle,
  PackageX,
  Palette,
  Undo2,
  UserPen,
} from "lucide-react";
import type { Mark, MarkKind } from "#base/domain/views.ts";
import { outcomeOf } from "../../domain/marks";

const icons: Record<Exclude<MarkKind, "answer">, LucideIcon> = {
  prompt: MessageCircle,
  task: Hammer,
  call: FilePen,
  files: UserPen,
  outside: UserPen,
  checkpoint: GitCommitHorizontal,
  rewind: History,
  undo: Undo2,
  take: Import,
  fork: GitFork,
  import: Import,
  repo: FolderGit2,
  theme: Palette,
  caches: PackageX,
  windows: AppWindow,
  document: FileText,
};

/** The same as of the run in the list of runs. */
const ends = { done: CircleCheck, failed: CircleX, cancelled: CircleSlash };

/** Shows what kind of mark it is, and how it ended, for the eye; the words beside it say the same. */
export function MarkIcon({ mark, size = 15 }: { mark: Mark; size?: number }) {
  const outcome = outcomeOf(mark);
  const Icon = iconOf(mark.kind, outcome);
  const failed = outcome === "failed" ? " mark-failed" : "";
  return <Icon size={size} aria-hidden className={`mark-icon mark-${mark.kind}${failed}`} />;
}

function iconOf(kind: MarkKind, outcome: keyof typeof ends | undefined): LucideIcon {
  if (kind === "answer") return outcome ? ends[outcome] : Circle;
  return icons[kind] ?? History;
}
