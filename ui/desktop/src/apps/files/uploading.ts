import { create } from "zustand";
import { Refusal } from "#base/domain/problem.ts";
import { freeName, join, nameOf } from "../../domain/path";
import { files, upload } from "../../transport/files";
import type { Load, Upload } from "./dropped";

/** How far an upload is. */
export interface Progress {
  /** What is on its way, and the part of it that has arrived. */
  name: string;
  part: number;
  /** Files and folders that were tried, and those that are known so far. */
  done: number;
  known: number;
  /** All of them are known. */
  counted: boolean;
  cancel(): void;
}

/** The uploads of this page, by ids that only it knows. */
export const useUploads = create<{ all: ReadonlyMap<string, Progress> }>(() => ({ all: new Map() }));

/** How an upload ended. */
export interface Uploaded {
  /** Files that arrived. */
  files: number;
  /** It was stopped before its end. */
  stopped: boolean;
  /** What was not uploaded, and why. */
  failed: readonly { name: string; error: unknown }[];
}

/** After so many failures in a row the rest is not tried: the disk is full, or the computer is away. */
const GIVEN_UP = 5;

/** Uploads everything into a folder, one after the other. What fails is left out, and told at the end. */
export async function uploadAll(load: Load, folder: string, taken: ReadonlySet<string>): Promise<Uploaded> {
  const id = crypto.randomUUID();
  const stop = new AbortController();
  let now: Progress = { name: "", part: 0, done: 0, known: 0, counted: false, cancel: () => stop.abort() };
  const show = (change: Partial<Progress>) => {
    now = { ...now, ...change };
    useUploads.setState(({ all }) => ({ all: new Map(all).set(id, now) }));
  };
  const failed: { name: string; error: unknown }[] = [];
  let arrived = 0;
  let inRow = 0;
  const found = ahead(load.uploads(freeNames(load.names, taken)), (known, counted) => show({ known, counted }));
  try {
    for await (const one of found) {
      show({ name: nameOf(one.path), part: 0 });
      try {
        await send(one, join(folder, one.path), (part) => show({ part }), stop.signal);
        if (one.is === "file") arrived++;
        inRow = 0;
      } catch (error) {
        if (stop.signal.aborted) break;
        failed.push({ name: one.path, error });
        inRow++;
      }
      if (stop.signal.aborted || inRow >= GIVEN_UP) break;
      show({ done: now.done + 1, part: 0 });
    }
  } finally {
    useUploads.setState(({ all }) => ({ all: new Map([...all].filter(([other]) => other !== id)) }));
  }
  return { files: arrived, stopped: stop.signal.aborted, failed };
}

async function send(
  one: Upload,
  path: string,
  onProgress: (part: number) => void,
  stopped: AbortSignal,
): Promise<void> {
  if (one.is === "unread") throw one.error;
  if (one.is === "file") return upload(path, await one.open(), onProgress, stopped);
  try {
    await files.makeFolder(path);
  } catch (error) {
    // One that is there already is as good.
    if (!(error instanceof Refusal && error.problem.code === "conflict")) throw error;
  }
}

/** A name for each of several that is not taken, neither by what is there nor by one of the others. */
export function freeNames(names: readonly string[], taken: ReadonlySet<string>): string[] {
  const used = new Set(taken);
  return names.map((name) => {
    const free = freeName(name, used);
    used.add(free);
    return free;
  });
}

/** How often it is said how many were found. */
const EVERY = 100;

/** Goes through everything at its own pace, so that it is known how much there is while the first of it is on its way. */
export async function* ahead<T>(
  source: AsyncIterable<T>,
  onKnown: (known: number, all: boolean) => void,
): AsyncGenerator<T> {
  const found: T[] = [];
  let over = false;
  let given = false;
  let wake = () => {};
  const collect = async () => {
    try {
      for await (const one of source) {
        if (given) return;
        found.push(one);
        if (found.length % EVERY === 0) onKnown(found.length, false);
        wake();
      }
      onKnown(found.length, true);
    } finally {
      over = true;
      wake();
    }
  };
  const collecting = collect();
  // Whoever waits below hears of it.
  collecting.catch(() => undefined);
  try {
    for (let at = 0; ; at++) {
      while (at >= found.length && !over) {
        await new Promise<void>((more) => {
          wake = more;
        });
      }
      if (at >= found.length) break;
      yield found[at] as T;
    }
    await collecting;
  } finally {
    given = true;
  }
}
