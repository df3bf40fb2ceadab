import { type DragEvent, type ReactNode, useState } from "react";
import type { FileState } from "#base/domain/contracts.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { nameOf } from "../../domain/path";
import { useWords } from "../../i18n/words";
import { doing } from "./doing";
import { loadOfDrop } from "./dropped";
import { words } from "./i18n";
import type { Place } from "./place";

/** What files of this desktop travel as. */
export const MOVED = "application/x-choir-files";

/** Takes what is dropped: files of this desktop are moved, or copied with Ctrl; others are uploaded. */
export function Dropping(props: { place: Place; taken(): ReadonlySet<string>; children: ReactNode }) {
  const { place, children } = props;
  const t = useWords(words);
  const [over, setOver] = useState<string>();
  const folderUnder = (e: DragEvent): string | undefined => {
    if (place.is !== "folder") return undefined;
    return (e.target as Element).closest<HTMLElement>("[data-folder]")?.dataset.folder ?? place.path;
  };
  const hover = (e: DragEvent) => {
    const folder = folderUnder(e);
    const types = e.dataTransfer.types;
    if (folder === undefined || !(types.includes(MOVED) || types.includes("Files"))) return;
    e.preventDefault();
    e.dataTransfer.dropEffect = types.includes("Files") || e.ctrlKey ? "copy" : "move";
    setOver(folder);
  };
  const drop = (e: DragEvent) => {
    const folder = folderUnder(e);
    setOver(undefined);
    if (folder === undefined) return;
    e.preventDefault();
    const here = place.is === "folder" && folder === place.path;
    const taken = here ? props.taken() : new Set<string>();
    const moved = e.dataTransfer.getData(MOVED);
    if (!moved) return unawaited(doing.upload(loadOfDrop(e.dataTransfer), folder, taken));
    const list = JSON.parse(moved) as FileState[];
    unawaited(e.ctrlKey ? doing.copy(list, folder, taken) : doing.move(list, folder, taken));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping has a menu beside it: cut and paste, upload
    <div
      className="files-drop"
      data-over={over !== undefined}
      onDragOver={hover}
      onDragLeave={(e) => !e.currentTarget.contains(e.relatedTarget as Node) && setOver(undefined)}
      onDrop={drop}
    >
      {children}
      {over !== undefined && (
        <p className="files-drop-hint">
          {t("dropHere")} · {nameOf(over) || t("home")}
        </p>
      )}
    </div>
  );
}
