import type { KeyboardEvent, ReactNode } from "react";
import type { FileState } from "#base/domain/contracts.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { useOffers } from "../../actions/OfferButton";
import { isChord } from "../../domain/chord";
import { folderOf, nameOf, nameTrouble } from "../../domain/path";
import { useNamed, useWords } from "../../i18n/words";
import { AskName } from "../../kit/AskName";
import { type Entry, MenuArea } from "../../kit/Menu";
import { useSession } from "../../session/session";
import { useWindow } from "../../session/useWindow";
import { doing, useHeld } from "./doing";
import { loadOfFiles, loadOfFolder } from "./dropped";
import { words } from "./i18n";
import { type Item, type Place, subjectOf } from "./place";

/** What the window shows now. */
export interface Shown {
  place: Place;
  items: readonly Item[];
  chosen: readonly Item[];
  /** The names that are here. */
  taken(): ReadonlySet<string>;
  go(subject: string): void;
  focusSearch(): void;
  togglePreview(): void;
  ask(naming: Naming): void;
}

/** What is being named. */
export type Naming = { file: FileState } | { folder: string } | undefined;

/** All that can be done here, for menus and keys alike. */
export function useEntries(shown: Shown): Entry[] {
  const t = useWords(words);
  const named = useNamed();
  const win = useWindow();
  const { windows } = useSession();
  const offers = useOffers();
  const held = useHeld((s) => s.files.length > 0);
  const { place, chosen, items, taken } = shown;
  const list = chosen.map((i) => i.file);
  const [first] = list;
  const none = list.length === 0;
  const folder = place.is === "folder" ? place.path : undefined;
  if (place.is === "trash") {
    const trashed = chosen.flatMap((i) => i.trashed ?? []);
    return [
      { id: "restore", label: t("restore"), disabled: none, run: () => unawaited(doing.restore(trashed)) },
      { id: "remove", label: t("remove"), danger: true, disabled: none, run: () => unawaited(doing.remove(trashed)) },
      {
        id: "empty",
        label: t("emptyTrash"),
        danger: true,
        apart: true,
        disabled: items.length === 0,
        run: () => unawaited(doing.emptyTrash()),
      },
    ];
  }
  const openers = first && first.kind !== "dir" ? windows.apps.openers(first.path) : [];
  return [
    {
      id: "open",
      label: t("open"),
      keys: "Enter",
      disabled: none,
      run: () => {
        for (const f of list) open(f, win.open, shown);
      },
    },
    {
      id: "with",
      label: t("openWith"),
      disabled: openers.length === 0,
      items: openers.map((app) => ({
        id: app.id,
        label: named(app.title),
        run: () => first && win.open(first.path, app.id),
      })),
    },
    {
      id: "ask",
      label: offers.label,
      disabled: list.length !== 1,
      items: first && list.length === 1 ? offers.entries({ kind: "file", path: first.path }) : [],
    },
    {
      id: "download",
      label: t("download"),
      disabled: !list.some((f) => f.kind === "file"),
      run: () => doing.download(list),
    },
    { id: "copy", label: t("copy"), keys: "Ctrl+C", apart: true, disabled: none, run: () => doing.hold(list, false) },
    { id: "cut", label: t("cut"), keys: "Ctrl+X", disabled: none, run: () => doing.hold(list, true) },
    {
      id: "paste",
      label: t("paste"),
      keys: "Ctrl+V",
      disabled: !held || folder === undefined,
      run: () => folder !== undefined && unawaited(doing.paste(folder, taken())),
    },
    {
      id: "double",
      label: t("copyHere"),
      disabled: none || folder === undefined,
      run: () => folder !== undefined && unawaited(doing.copy(list, folder, taken())),
    },
    {
      id: "rename",
      label: t("rename"),
      keys: "F2",
      apart: true,
      disabled: list.length !== 1,
      run: () => first && shown.ask({ file: first }),
    },
    {
      id: "trash",
      label: t("toTrash"),
      keys: "Delete",
      danger: true,
      disabled: none,
      run: () => unawaited(doing.trash(list)),
    },
    {
      id: "folder",
      label: t("newFolder"),
      keys: "Ctrl+Shift+N",
      apart: true,
      disabled: folder === undefined,
      run: () => folder !== undefined && shown.ask({ folder }),
    },
    {
      id: "upload",
      label: t("upload"),
      disabled: folder === undefined,
      run: () => folder !== undefined && pick(folder, taken(), false),
    },
    {
      id: "upload.folder",
      label: t("uploadFolder"),
      disabled: folder === undefined,
      run: () => folder !== undefined && pick(folder, taken(), true),
    },
  ];
}

/** Opens a file in its app, or a folder here. */
export function open(file: FileState, openIn: (subject: string) => void, shown: Shown): void {
  if (file.kind === "dir") shown.go(subjectOf(file.path));
  else openIn(file.path);
}

/** Asks for files of the person's own machine, or for a folder with all that is in it. */
function pick(into: string, taken: ReadonlySet<string>, folder: boolean): void {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.webkitdirectory = folder;
  input.onchange = () => {
    const chosen = [...(input.files ?? [])];
    unawaited(doing.upload(folder ? loadOfFolder(chosen) : loadOfFiles(chosen), into, taken));
  };
  input.click();
}

/** The menu, the keys, and the dialog for a name, around what is listed. */
export function Actions({ shown, naming, children }: { shown: Shown; naming: Naming; children: ReactNode }) {
  const t = useWords(words);
  const entries = useEntries(shown);
  const win = useWindow();
  const press = (e: KeyboardEvent) => {
    if (e.target instanceof HTMLInputElement || e.defaultPrevented) return;
    const pressed = {
      ...e,
      key: e.key,
      code: e.code,
      ctrlKey: e.ctrlKey,
      metaKey: e.metaKey,
      altKey: e.altKey,
      shiftKey: e.shiftKey,
    };
    const entry = entries.find((x) => x.keys && !x.disabled && isChord(pressed, x.keys));
    if (entry) entry.run?.();
    else if (isChord(pressed, "Ctrl+F")) shown.focusSearch();
    else if (e.key === " ") shown.togglePreview();
    else if (e.key === "Backspace" && shown.place.is === "folder") shown.go(subjectOf(folderOf(shown.place.path)));
    else return;
    e.preventDefault();
  };
  const trouble = (name: string) => {
    const wrong = nameTrouble(name) ?? (shown.taken().has(name) ? "taken" : undefined);
    return (
      wrong && t(({ empty: "nameEmpty", slash: "nameSlash", dots: "nameDots", taken: "nameTaken" } as const)[wrong])
    );
  };
  return (
    <MenuArea entries={entries}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys of the list inside */}
      <div className="files-area" onKeyDown={press}>
        {children}
        {naming && (
          <AskName
            title={"file" in naming ? t("renameOne", { name: nameOf(naming.file.path) }) : t("newFolder")}
            value={"file" in naming ? nameOf(naming.file.path) : ""}
            ok={t("ok")}
            cancel={t("cancel")}
            trouble={trouble}
            onName={(name) =>
              unawaited("file" in naming ? doing.rename(naming.file, name) : doing.makeFolder(naming.folder, name))
            }
            onClose={() => {
              shown.ask(undefined);
              win.focus();
            }}
          />
        )}
      </div>
    </MenuArea>
  );
}
