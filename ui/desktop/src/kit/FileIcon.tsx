import {
  File,
  FileArchive,
  FileCode,
  FileImage,
  FileJson,
  FileMusic,
  FileSpreadsheet,
  FileSymlink,
  FileText,
  FileVideo,
  Folder,
  type LucideIcon,
} from "lucide-react";
import type { FileState } from "#base/domain/contracts.ts";
import { extensionOf } from "../domain/path";
import "./fileicon.css";

const kinds: [LucideIcon, string, string][] = [
  [FileImage, "picture", "png jpg jpeg gif webp avif svg ico bmp"],
  [FileMusic, "media", "mp3 wav ogg flac m4a opus"],
  [FileVideo, "media", "mp4 webm mov mkv ogv"],
  [FileJson, "data", "json jsonl toml yaml yml"],
  [FileSpreadsheet, "data", "csv tsv xlsx ods"],
  [FileArchive, "other", "zip gz tar tgz xz zst bz2 7z"],
  [FileText, "text", "md markdown txt pdf docx odt rst"],
  [FileCode, "code", "go ts tsx js jsx mjs py rs c h cpp java sh css html sql rb php swift kt lua mod sum"],
];
const byEnding = new Map(kinds.flatMap(([Icon, tone, all]) => all.split(" ").map((e) => [e, { Icon, tone }] as const)));

/** What kind of thing a file is, by its name. */
export function FileIcon({ file, size }: { file: FileState; size: number }) {
  const known = byEnding.get(extensionOf(file.path));
  const Icon = file.kind === "dir" ? Folder : file.kind === "symlink" ? FileSymlink : (known?.Icon ?? File);
  const tone = file.kind === "dir" ? "folder" : (known?.tone ?? "other");
  return <Icon className={`file-icon file-icon-${tone}`} size={size} strokeWidth={size > 24 ? 1.3 : 1.8} aria-hidden />;
}
