import { useQuery } from "@tanstack/react-query";
import type { FileState } from "#base/domain/contracts.ts";
import { isGit } from "#base/transport/moments.ts";
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
  /** There is more, which is being read. */
  partial?: boolean;
}

/** Reads what is at a place, again when files change. The first of a long folder are there before the rest. */
export function useContents(place: Place) {
  return useQuery<Contents>({
    queryKey: ["files", place],
    queryFn: ({ signal, client, queryKey }) =>
      read(place, signal, (items) => {
        if (client.getQueryData(queryKey) === undefined)
          client.setQueryData(queryKey, { items, cut: false, partial: true });
      }),
    placeholderData: (before) => before,
    // What is read again and is the same is not sorted and drawn again.
    structuralSharing: (before, now) => (same(before as Contents | undefined, now as Contents) ? before : now),
  });
}

/** Whether two readings say the same of every file. */
export function same(before: Contents | undefined, now: Contents): boolean {
  if (before?.items.length !== now.items.length || before.cut !== now.cut || before.partial !== now.partial)
    return false;
  return now.items.every((item, i) => {
    const was = before.items[i];
    return was !== undefined && was.id === item.id && was.beside === item.beside && sameFile(was.file, item.file);
  });
}

function sameFile(a: FileState, b: FileState): boolean {
  const keys = Object.keys(b) as (keyof FileState)[];
  return Object.keys(a).length === keys.length && keys.every((key) => a[key] === b[key]);
}

async function read(place: Place, signal: AbortSignal, onFirst: (items: Item[]) => void): Promise<Contents> {
  if (place.is === "trash") {
    const items = (await files.trashed()).map((t) => ({ id: t.id, file: { ...t.file, path: t.from }, trashed: t }));
    return { items, cut: false };
  }
  if (place.is === "search") {
    const { found, cut = false } = await files.find({ name: place.name, limit: 1000 }, signal);
    return { items: found.map(({ file }) => ({ ...itemOf(file), beside: folderOf(file.path) })), cut };
  }
  return { items: await readFolder(place.path, signal, onFirst), cut: false };
}

const itemOf = (file: FileState): Item => ({ id: file.path, file });

/** The trash lies in the workspace, and has a place of its own; a .git folder is no work of the owner. */
const hidden = (file: FileState) => file.path === ".trash" || isGit(file.path);

async function readFolder(path: string, signal: AbortSignal, onFirst: (items: Item[]) => void): Promise<Item[]> {
  const all: Item[] = [];
  for (let after = ""; ; ) {
    const page = await files.folder(path, after, signal);
    const { entries } = page;
    for (const file of entries) if (!hidden(file)) all.push(itemOf(file));
    const last = entries.at(-1);
    if (!page.more || !last) return all;
    if (after === "") onFirst([...all]);
    after = last.path.slice(last.path.lastIndexOf("/") + 1);
  }
}
