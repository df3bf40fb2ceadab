import {
  AppWindow,
  CircleCheck,
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
import type { MarkKind } from "#base/domain/views.ts";

const icons: Record<MarkKind, LucideIcon> = {
  prompt: MessageCircle,
  answer: CircleCheck,
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

/** What kind of mark it is, for the eye; the words say the same. */
export function MarkIcon({ kind, size = 15 }: { kind: MarkKind; size?: number }) {
  const Icon = icons[kind] ?? History;
  return <Icon size={size} aria-hidden className={`mark-icon mark-${kind}`} />;
}
