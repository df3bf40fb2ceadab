import { useQuery } from "@tanstack/react-query";
import type { FileState } from "../../domain/contracts";
import { folderOf } from "../../domain/path";
import { files, type Trashed } from "../../transport/files";

/** What a window of Files shows. */
export type Place = { is: "folder"; path: string } | { is: "search"; name: string } | { is: "trash" };

/** Reads the subject of a window: "a/b/" is a folder, "search:x" a search. */
export function placeOf(subject: string): Place {
  if (subject.startsWith("trash:")) return { is: "trash" };
  if (subject.startsWith("search:")) return { is: "search", name: subject.slice(7) };
  return { is: "folder", path: subject.replace(/\/+$/, "") };
}

/** The subject of a window that shows a folder. */
export function subjectOf(path: string): string {
  return path ? `${path}/` : "";
}

/** One entry that is listed. */
export interface Item {
  id: string;
  file: FileState;
  /** What the trash knows of it. */
  trashed?: Trashed;
  /** Where it was found. */
  beside?: string;
}

/** What is at a place. */
export interface Contents {
  items: Item[];
  /** There may be more. */
  cut: boolean;
}

/** Reads what is at a place, again when files change. */
export function useContents(place: Place) {
  return useQuery<Contents>({
    queryKey: ["files", place],
    queryFn: ({ signal }) => read(place, signal),
    placeholderData: (before) => before,
  });
}

async function read(place: Place, signal: AbortSignal): Promise<Contents> {
  if (place.is === "trash") {
    const items = (await files.trashed()).map((t) => ({ id: t.id, file: { ...t.file, path: t.from }, trashed: t }));
    return { items, cut: false };
  }
  if (place.is === "search") {
    const { found, cut } = await files.find({ name: place.name, limit: 1000 }, signal);
    return { items: found.map(({ file }) => ({ ...itemOf(file), beside: folderOf(file.path) })), cut };
  }
  return { items: (await readFolder(place.path, signal)).map(itemOf), cut: false };
}

const itemOf = (file: FileState): Item => ({ id: file.path, file });

/** The trash lies in the workspace, and has a place of its own. */
const hidden = (file: FileState) => file.path === ".trash";

async function readFolder(path: string, signal: AbortSignal): Promise<FileState[]> {
  const all: FileState[] = [];
  for (let after = ""; ; ) {
    const page = await files.folder(path, after, signal);
    const entries = page.entries ?? [];
    all.push(...entries.filter((f) => !hidden(f)));
    const last = entries.at(-1);
    if (!page.more || !last) return all;
    after = last.path.slice(last.path.lastIndexOf("/") + 1);
  }
}
