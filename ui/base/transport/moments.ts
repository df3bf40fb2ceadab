import { ask, askBytes } from "./http";

/** Whether a path is a project's .git. */
export const isGit = (path: string) => /(^|\/)\.git$/.test(path);

/** Looks at the past of one computer, whose API lies at `at`; nothing here changes anything. */
export const momentAsks = (at: string) => {
  const inside = (seq: number, what: "folder" | "file", path: string) =>
    `${at}/at/${seq}/${what}?path=${encodeURIComponent(path)}`;
  return {
    /** Marks before an event, the newest first; 0 is now. */
    marks: (before: number, limit: number, signal?: AbortSignal) =>
      ask<"getTimeline">(`${at}/timeline?limit=${limit}&before=${before}`, { signal }),
    /** The computer as it was after an event. */
    show: (seq: number, signal?: AbortSignal) => ask<"getMoment">(`${at}/at/${seq}`, { signal }),
    /** How the computer differs from what it was after an event: after another, and now when that is 0. */
    diff: (from: number, to: number, signal?: AbortSignal) =>
      ask<"getDiff">(`${at}/diff?from=${from}&to=${to}`, { signal }),
    /** The entries of a folder, without git's own folder, which is not the owner's work. */
    folder: async (seq: number, path: string, signal?: AbortSignal) =>
      (await ask<"listFolderAt">(inside(seq, "folder", path), { signal })).filter((e) => !isGit(e.path)),
    fileAddress: (seq: number, path: string) => inside(seq, "file", path),
    file: (seq: number, path: string, signal?: AbortSignal) => askBytes(inside(seq, "file", path), signal),
  };
};
