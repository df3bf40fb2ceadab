import { useQuery } from "@tanstack/react-query";
import { ChevronRight, File, FileSymlink, FileX } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { FileState } from "#base/domain/contracts.ts";
import type { Moment } from "#base/domain/views.ts";
import { useSession } from "../../session/session";
import { t } from "../../words/late";
import { folderThen } from "./past";

/** Entries of one folder drawn at once. */
const SHOWN = 200;

/** What the whole tree shares. */
export interface TreeParts {
  chosen: string | undefined;
  /** Changed in the step that led here. */
  changed: ReadonlySet<string>;
  /** Different now. */
  differ: ReadonlySet<string>;
  isOpen(path: string): boolean;
  onChoose(path: string): void;
  onToggle(path: string, open: boolean): void;
}

const icons = { file: File, symlink: FileSymlink, fifo: FileX };

/** One folder as it was; its entries are read once it is opened and `known` to be there. */
export function Folder({
  moment,
  path,
  tree,
  known = true,
}: {
  moment: Moment;
  path: string;
  tree: TreeParts;
  known?: boolean;
}) {
  const session = useSession();
  const [shown, setShown] = useState(SHOWN);
  const { data, error, isPlaceholderData } = useQuery({
    ...folderThen(session, moment, path),
    enabled: known,
    placeholderData: (before) => before,
  });
  if (error) return <p className="side-none">{error.message}</p>;
  const entries = [...(data ?? [])].sort(foldersFirst);
  return (
    <ul>
      {entries.slice(0, shown).map((e) => (
        <li key={e.path}>
          {e.kind === "dir" ? (
            <Branch entry={e} moment={moment} tree={tree} known={!isPlaceholderData} />
          ) : (
            <Leaf entry={e} tree={tree} />
          )}
        </li>
      ))}
      {entries.length > shown && (
        <li>
          <button type="button" className="tree-row" onClick={() => setShown(shown + 5 * SHOWN)}>
            {t("time.moreEntries", { n: entries.length })}
          </button>
        </li>
      )}
    </ul>
  );
}

function foldersFirst(a: FileState, b: FileState): number {
  const rank = (e: FileState) => (e.kind === "dir" ? (nameOf(e).startsWith(".") ? 1 : 0) : 2);
  return rank(a) - rank(b) || (a.path < b.path ? -1 : 1);
}

const nameOf = (e: FileState) => e.path.slice(e.path.lastIndexOf("/") + 1);

function Branch({ entry, moment, tree, known }: { entry: FileState; moment: Moment; tree: TreeParts; known: boolean }) {
  const open = tree.isOpen(entry.path);
  const name = nameOf(entry);
  return (
    <>
      <button
        type="button"
        className={`tree-row ${name.startsWith(".") ? "tree-hidden" : ""}`}
        aria-expanded={open}
        onClick={() => tree.onToggle(entry.path, !open)}
      >
        <ChevronRight size={14} aria-hidden className="tree-turn" />
        <span className="tree-name">{name}</span>
      </button>
      {open && <Folder moment={moment} path={entry.path} tree={tree} known={known} />}
    </>
  );
}

/** Brings a row into sight by moving the tree alone, not the page around it. */
function reveal(row: HTMLElement | null): void {
  const box = row?.closest(".tree");
  if (!row || !box) return;
  const [inner, outer] = [row.getBoundingClientRect(), box.getBoundingClientRect()];
  if (inner.top < outer.top || inner.bottom > outer.bottom) {
    box.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
  }
}

function Leaf({ entry, tree }: { entry: FileState; tree: TreeParts }) {
  const Icon = icons[entry.kind as keyof typeof icons] ?? File;
  const chosen = tree.chosen === entry.path;
  const row = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (chosen) reveal(row.current);
  }, [chosen]);
  return (
    <button
      type="button"
      ref={row}
      className="tree-row"
      aria-current={chosen ? "true" : undefined}
      onClick={() => tree.onChoose(entry.path)}
    >
      <Icon size={14} aria-hidden />
      <span className="tree-name">{nameOf(entry)}</span>
      {tree.changed.has(entry.path) ? (
        <span className="tree-sign tree-changed">{t("time.changedHere")}</span>
      ) : (
        tree.differ.has(entry.path) && <span className="tree-sign">{t("time.differsNow")}</span>
      )}
    </button>
  );
}
