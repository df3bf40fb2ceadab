import type { FileState } from "#base/domain/contracts.ts";

/** The last part of a path, as it is read: bytes that are no text stay escaped. */
export function nameOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.replaceAll("%25", "%");
}

/** A name a person typed as part of a path. */
export function asPart(name: string): string {
  return name.replaceAll("%", "%25");
}

/** The folder around a path; "" is the workspace itself. */
export function folderOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
}

/** A path below a folder. */
export function join(folder: string, name: string): string {
  return folder ? `${folder}/${name}` : name;
}

/** Every folder on the way to a path, the workspace first. */
export function trailOf(path: string): string[] {
  const parts = path.split("/").filter(Boolean);
  return ["", ...parts.map((_, i) => parts.slice(0, i + 1).join("/"))];
}

/** Why a name cannot be; undefined when it can. */
export function nameTrouble(name: string): "empty" | "slash" | "dots" | undefined {
  if (name.trim() === "") return "empty";
  if (name.includes("/") || name.includes("\0")) return "slash";
  return name === "." || name === ".." ? "dots" : undefined;
}

/** A name that is not taken: "notes 2.md" beside "notes.md". */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  const dot = name.lastIndexOf(".") > 0 ? name.lastIndexOf(".") : name.length;
  for (let n = 1; ; n++) {
    const next = n === 1 ? name : `${name.slice(0, dot)} ${n}${name.slice(dot)}`;
    if (!taken.has(next)) return next;
  }
}

/** What files are sorted by. */
export type SortBy = "name" | "size" | "time" | "kind";

/** Says which of two files comes first: folders, then by what is asked for; equal ones by name. */
export function orderOf(by: SortBy, down: boolean, language: string): (a: FileState, b: FileState) => number {
  const collator = new Intl.Collator(language, { numeric: true, sensitivity: "base" });
  const names = (a: FileState, b: FileState) => collator.compare(a.path, b.path);
  const values: Record<SortBy, (a: FileState, b: FileState) => number> = {
    name: names,
    size: (a, b) => a.size - b.size,
    time: (a, b) => a.mtime_ms - b.mtime_ms,
    kind: (a, b) => collator.compare(extensionOf(a.path), extensionOf(b.path)),
  };
  const way = down ? -1 : 1;
  const folder = (f: FileState) => (f.kind === "dir" ? 0 : 1);
  return (a, b) => folder(a) - folder(b) || way * values[by](a, b) || names(a, b);
}

/** Files in an order. */
export function sorted(files: readonly FileState[], by: SortBy, down: boolean, language: string): FileState[] {
  return [...files].sort(orderOf(by, down, language));
}

/** What follows the last dot, in lower-case; "" without one. */
export function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.lastIndexOf(".") > 0 ? name.slice(name.lastIndexOf(".") + 1).toLowerCase() : "";
}
