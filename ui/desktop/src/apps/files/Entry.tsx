import type { DragEvent, MouseEvent } from "react";
import { bytes } from "#base/domain/bytes.ts";
import { folderOf, nameOf } from "../../domain/path";
import { ago } from "../../domain/time";
import { useWords } from "../../i18n/words";
import { FileIcon } from "../../kit/FileIcon";
import { useStore } from "../../state/store";
import { fileAddress } from "../../transport/files";
import { MOVED } from "./Dropping";
import { words } from "./i18n";
import type { Item } from "./place";

interface Props {
  id: string;
  item: Item;
  look: "list" | "grid";
  top: number;
  lane: number;
  lanes: number;
  place: number;
  count: number;
  chosen: boolean;
  active: boolean;
  all: readonly Item[];
  /** The time that it is said from how long ago it was changed. */
  now: number;
  onPoint(e: MouseEvent, place: number): void;
  onOpen(): void;
}

/** One file or folder. */
export function Entry({
  id,
  item,
  look,
  top,
  lane,
  lanes,
  place,
  count,
  chosen,
  active,
  all,
  now,
  onPoint,
  onOpen,
}: Props) {
  const t = useWords(words);
  const language = useStore((s) => s.language);
  const { file } = item;
  const name = nameOf(file.path);
  const drag = (e: DragEvent) => {
    const paths = (chosen ? all : [item]).map((i) => i.file);
    e.dataTransfer.setData(MOVED, JSON.stringify(paths));
    e.dataTransfer.setData("text/plain", paths.map((f) => f.path).join("\n"));
    e.dataTransfer.effectAllowed = "copyMove";
    // Chromium saves it where it is dropped outside of the browser.
    const address = new URL(fileAddress(file.path, true), location.href).href;
    if (file.kind === "file") e.dataTransfer.setData("DownloadURL", `application/octet-stream:${name}:${address}`);
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys of all its entries
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus and names the active entry
    <div
      id={id}
      role="option"
      className="files-entry"
      data-folder={file.kind === "dir" ? file.path : undefined}
      data-active={active}
      aria-selected={chosen}
      aria-setsize={count}
      aria-posinset={place + 1}
      style={{ top, insetInlineStart: `${(lane * 100) / lanes}%`, width: `${100 / lanes}%` }}
      draggable={!item.trashed}
      onDragStart={drag}
      onClick={(e) => onPoint(e, place)}
      onContextMenu={(e) => onPoint(e, place)}
      onDoubleClick={onOpen}
    >
      <FileIcon file={file} size={look === "grid" ? 40 : 18} />
      <span className="files-name">
        {name}
        {item.beside !== undefined && <small>{item.beside || t("home")}</small>}
        {item.trashed && <small>{t("from", { path: folderOf(item.trashed.from) || t("home") })}</small>}
        {file.target && <small>{t("link", { target: file.target })}</small>}
      </span>
      {look === "list" && (
        <>
          <span className="files-size">{file.kind === "file" ? bytes(file.size, language) : "–"}</span>
          <time className="files-time" dateTime={new Date(file.mtime_ms).toISOString()}>
            {ago(file.mtime_ms, Math.max(now, file.mtime_ms), language)}
          </time>
        </>
      )}
    </div>
  );
}
