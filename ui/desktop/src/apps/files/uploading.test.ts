import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadOfDrop, loadOfFolder, type Upload } from "./dropped";
import { ahead, freeNames, uploadAll } from "./uploading";

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of source) found.push(one);
  return found;
}

/** A folder as a browser gives it on a drop: a few entries at a time, and none at the end. */
function folder(name: string, inside: FileSystemEntry[], atOnce = 2): FileSystemEntry {
  const createReader = () => {
    const rest = [...inside];
    return { readEntries: (found: (e: FileSystemEntry[]) => void) => found(rest.splice(0, atOnce)) };
  };
  return { name, isFile: false, isDirectory: true, createReader } as unknown as FileSystemEntry;
}

function unread(name: string, refused: Error): FileSystemEntry {
  const createReader = () => ({ readEntries: (_: unknown, lost: (e: Error) => void) => lost(refused) });
  return { name, isFile: false, isDirectory: true, createReader } as unknown as FileSystemEntry;
}

function file(name: string, refused?: Error, onOpen = () => {}): FileSystemEntry {
  const readFile = (found: (f: File) => void, lost: (e: Error) => void) => {
    onOpen();
    return refused ? lost(refused) : found(new File([name], name));
  };
  return { name, isFile: true, isDirectory: false, file: readFile } as unknown as FileSystemEntry;
}

const dropOf = (...entries: FileSystemEntry[]) =>
  ({ items: entries.map((entry) => ({ kind: "file", webkitGetAsEntry: () => entry })) }) as unknown as DataTransfer;

const told = (uploads: Upload[]) => uploads.map((u) => `${u.is} ${u.path}`);

describe("what is dropped", () => {
  it("is every file below a folder, and the folders that have none", async () => {
    const load = loadOfDrop(
      dropOf(folder("pond", [file("a"), folder("deep", [file("b")]), folder("none", []), file("c")]), file("100%")),
    );
    expect(load.names).toEqual(["pond", "100%"]);
    expect(told(await all(load.uploads(["pond 2", "100%"])))).toEqual([
      "file pond 2/a",
      "file pond 2/deep/b",
      "folder pond 2/none",
      "file pond 2/c",
      "file 100%25",
    ]);
  });

  it("goes on behind what cannot be read, and says so", async () => {
    const load = loadOfDrop(dropOf(folder("pond", [unread("deep", new Error("locked")), file("b")])));
    expect(told(await all(load.uploads(load.names)))).toEqual(["unread pond/deep", "file pond/b"]);
  });

  it("opens a file when it is its turn, and not before", async () => {
    let opened = 0;
    const counted = file("a", undefined, () => opened++);
    const [found] = await all(loadOfDrop(dropOf(folder("pond", [counted]))).uploads(["pond"]));
    expect(opened).toBe(0);
    if (found?.is !== "file") throw new Error(`it is ${found?.is}`);
    expect((await found.open()).name).toBe("a");
    expect(opened).toBe(1);
  });

  it("leaves out a file that cannot be opened, and names it", async () => {
    const load = loadOfDrop(dropOf(folder("pond", [file("a", new Error("locked")), file("b", new Error("gone"))])));
    const { files, failed } = await uploadAll(load, "workspace", new Set());
    expect(files).toBe(0);
    expect(failed.map((f) => `${f.name}: ${f.error}`)).toEqual(["pond/a: Error: locked", "pond/b: Error: gone"]);
  });

  it("may be a folder that was chosen with a button", async () => {
    const inside = (path: string) => Object.assign(new File([], "x"), { webkitRelativePath: path });
    const load = loadOfFolder([inside("pond/a"), inside("pond/deep/b")]);
    expect(load.names).toEqual(["pond"]);
    expect(told(await all(load.uploads(["pond 2"])))).toEqual(["file pond 2/a", "file pond 2/deep/b"]);
  });
});

describe("looking ahead", () => {
  it("gives everything once and in order, whatever the pace of both sides", async () => {
    const paces = fc.array(fc.boolean(), { maxLength: 250 });
    const turn = () => new Promise((later) => setTimeout(later));
    await fc.assert(
      fc.asyncProperty(paces, fc.array(fc.boolean(), { maxLength: 20 }), async (sends, takes) => {
        async function* source() {
          for (const [i, waits] of sends.entries()) {
            if (waits && i < 20) await turn();
            yield i;
          }
        }
        const known: [number, boolean][] = [];
        const got: number[] = [];
        for await (const one of ahead(source(), (n, counted) => known.push([n, counted]))) {
          if (takes[one]) await turn();
          got.push(one);
        }
        expect(got).toEqual([...sends.keys()]);
        expect(known.at(-1)).toEqual([sends.length, true]);
      }),
      { numRuns: 25 },
    );
  });

  it("fails as its source does, after what came before", async () => {
    async function* source() {
      yield 1;
      throw new Error("unplugged");
    }
    const got: number[] = [];
    const run = async () => {
      for await (const one of ahead(source(), () => {})) got.push(one);
    };
    await expect(run()).rejects.toThrow("unplugged");
    expect(got).toEqual([1]);
  });

  it("stops looking when nobody wants more", async () => {
    let given = 0;
    async function* source() {
      for (;;) {
        given++;
        await new Promise((later) => setTimeout(later));
        yield given;
      }
    }
    for await (const one of ahead(source(), () => {})) if (one === 3) break;
    const then = given;
    for (let turn = 0; turn < 10; turn++) await new Promise((later) => setTimeout(later));
    expect(given - then).toBeLessThan(3);
  });
});

describe("free names", () => {
  it("are taken neither there nor by each other", () => {
    expect(freeNames(["a.txt", "a.txt", "b"], new Set(["a.txt"]))).toEqual(["a 2.txt", "a 3.txt", "b"]);
  });
});
