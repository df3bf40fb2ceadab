import { create } from "zustand";
import type { FileState } from "#base/domain/contracts.ts";
import { explain } from "#base/domain/problem.ts";
import { notifyDone, notifyProblem, notifyTrouble } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { asPart, folderOf, freeName, join, nameOf } from "../../domain/path";
import { say, type Values } from "../../i18n/words";
import { useStore } from "../../state/store";
import { fileAddress, files, matchOf, type Transfer, type Trashed } from "../../transport/files";
import type { Load } from "./dropped";
import { words } from "./i18n";
import { uploadAll } from "./uploading";

const t = (key: Parameters<typeof say<keyof typeof words.en>>[2], values?: Values) =>
  say(words, useStore.getState().language, key, values);

/** What was copied or cut, in every window of Files. */
interface Held {
  files: readonly FileState[];
  cut: boolean;
}

export const useHeld = create<Held>(() => ({ files: [], cut: false }));

/** Does something and says what went wrong. */
async function attempt(act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    notifyProblem(error);
  }
}

const undo = (act: () => Promise<unknown>) => ({
  label: t("undo"),
  // Of many steps the last is offered; the others are undone on the timeline.
  id: "files",
  run: () => unawaited(act()),
});

function transfers(list: readonly FileState[], folder: string, taken: ReadonlySet<string>): Transfer[] {
  const used = new Set(taken);
  return list.map((file) => {
    const name = freeName(nameOf(file.path), used);
    used.add(name);
    return { from: file.path, to: join(folder, asPart(name)), if_match: matchOf(file) };
  });
}

const back = (items: readonly Transfer[]) => items.map((i) => ({ from: i.to, to: i.from, if_match: "*" }));

/** What a person does with files; each can be undone. */
export const doing = {
  hold: (list: readonly FileState[], cut: boolean) => useHeld.setState({ files: list, cut }),

  move: (list: readonly FileState[], folder: string, taken: ReadonlySet<string>) =>
    attempt(async () => {
      const away = list.filter((f) => folderOf(f.path) !== folder && f.path !== folder);
      if (away.length === 0) return;
      const items = transfers(away, folder, taken);
      await files.move(items);
      notifyDone(
        t("saidMoved", { n: items.length }),
        undo(() => files.move(back(items))),
      );
    }),

  copy: (list: readonly FileState[], folder: string, taken: ReadonlySet<string>) =>
    attempt(async () => {
      const items = transfers(list, folder, taken);
      await files.copy(items);
      const copies = items.map((i) => ({ path: i.to, if_match: "*" }));
      notifyDone(
        t("saidCopied", { n: items.length }),
        undo(() => files.trash(copies)),
      );
    }),

  paste(folder: string, taken: ReadonlySet<string>): Promise<void> {
    const held = useHeld.getState();
    if (!held.cut) return doing.copy(held.files, folder, taken);
    useHeld.setState({ files: [], cut: false });
    return doing.move(held.files, folder, taken);
  },

  rename: (file: FileState, name: string) =>
    attempt(async () => {
      const to = join(folderOf(file.path), asPart(name));
      const items = [{ from: file.path, to, if_match: matchOf(file) }];
      await files.move(items);
      notifyDone(
        t("saidMoved", { n: 1 }),
        undo(() => files.move(back(items))),
      );
    }),

  makeFolder: (folder: string, name: string) => attempt(() => files.makeFolder(join(folder, asPart(name)))),

  trash: (list: readonly FileState[]) =>
    attempt(async () => {
      const trashed = await files.trash(list.map((f) => ({ path: f.path, if_match: matchOf(f) })));
      const again = () => Promise.all(trashed.map((x) => files.restore(x.id)));
      notifyDone(t("saidTrashed", { n: trashed.length }), undo(again));
    }),

  restore: (list: readonly Trashed[]) =>
    attempt(async () => {
      for (const { id } of list) await files.restore(id);
      notifyDone(t("saidRestored", { n: list.length }));
    }),

  remove: (list: readonly Trashed[]) => attempt(() => Promise.all(list.map((x) => files.emptyTrash(x.id)))),

  emptyTrash: () => attempt(() => files.emptyTrash()),

  download(list: readonly FileState[]): void {
    for (const file of list.filter((f) => f.kind === "file")) {
      const link = document.createElement("a");
      link.href = fileAddress(file.path, true);
      link.download = nameOf(file.path);
      link.click();
    }
  },

  upload: (load: Load, folder: string, taken: ReadonlySet<string>) =>
    attempt(async () => {
      const { files: n, stopped, failed } = await uploadAll(load, folder, taken);
      const [first] = failed;
      if (first) {
        const { title, remedy } = explain(first.error);
        const more = failed.length > 1 ? t("andMore", { n: failed.length - 1 }) : "";
        notifyTrouble(t("notUploaded", { name: first.name, more }), [title, remedy].filter(Boolean).join(". "));
      }
      if (stopped) notifyDone(t("uploadStopped", { n }));
      else if (n > 0 || !first) notifyDone(t("uploaded", { n }));
    }),
};
