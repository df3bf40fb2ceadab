import { asPart, join } from "../../domain/path";

/**
 * One thing that is to be uploaded: a file, a folder with nothing in it, or a folder that
 * cannot be read and why. The browser needs milliseconds to open a dropped file, so each is
 * opened when it is its turn.
 */
export type Upload =
  | { is: "file"; path: string; open(): Promise<File> | File }
  | { is: "folder"; path: string }
  | { is: "unread"; path: string; error: unknown };

/** All that was dropped or chosen at once. */
export interface Load {
  /** What it is called: one name for each file or folder that was dropped. */
  names: readonly string[];
  /** Gives what is in it, one after the other. `called` are the names that it gets, in the order of `names`. */
  uploads(called: readonly string[]): AsyncIterable<Upload>;
}

/** Files that stand side by side. */
export function loadOfFiles(files: readonly File[]): Load {
  return {
    names: files.map((f) => f.name),
    async *uploads(called) {
      for (const [i, file] of files.entries())
        yield { is: "file", path: asPart(called[i] ?? file.name), open: () => file };
    },
  };
}

/** A folder that was chosen with a button: each of its files says where in it it lies. Folders without files are not told of. */
export function loadOfFolder(files: readonly File[]): Load {
  const parts = (file: File) => (file.webkitRelativePath || file.name).split("/");
  const names = [...new Set(files.map((file) => parts(file)[0] ?? file.name))];
  return {
    names,
    async *uploads(called) {
      for (const file of files) {
        const [top = "", ...rest] = parts(file);
        const path = [called[names.indexOf(top)] ?? top, ...rest].map(asPart).join("/");
        yield { is: "file", path, open: () => file };
      }
    },
  };
}

/**
 * What was dropped, folders with all that is in them. To be called while the drop is
 * handled: afterwards the browser says nothing of it any more.
 */
export function loadOfDrop(data: DataTransfer): Load {
  const dropped: (FileSystemEntry | File)[] = [];
  for (const item of data.items) {
    if (item.kind !== "file") continue;
    const entry = item.webkitGetAsEntry() ?? item.getAsFile();
    if (entry) dropped.push(entry);
  }
  return {
    names: dropped.map((d) => d.name),
    async *uploads(called) {
      for (const [i, one] of dropped.entries()) {
        const path = asPart(called[i] ?? one.name);
        if (one instanceof File) yield { is: "file", path, open: () => one };
        else yield* walk(one, path);
      }
    },
  };
}

/** A file, or all that is in a folder. */
async function* walk(entry: FileSystemEntry, path: string): AsyncIterable<Upload> {
  try {
    if (entry.isFile) yield { is: "file", path, open: () => openEntry(entry as FileSystemFileEntry) };
    else yield* walkFolder(entry as FileSystemDirectoryEntry, path);
  } catch (error) {
    yield { is: "unread", path, error };
  }
}

async function* walkFolder(folder: FileSystemDirectoryEntry, path: string): AsyncIterable<Upload> {
  const reader = folder.createReader();
  for (let first = true; ; first = false) {
    // The browser gives at most a hundred at a time, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((found, lost) => reader.readEntries(found, lost));
    // Folders come to be with what is in them; one without anything is made by itself.
    if (some.length === 0 && first) yield { is: "folder", path };
    if (some.length === 0) return;
    for (const inside of some) yield* walk(inside, join(path, asPart(inside.name)));
  }
}

function openEntry(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((found, lost) => entry.file(found, lost));
}
