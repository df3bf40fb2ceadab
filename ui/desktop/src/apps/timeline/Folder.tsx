import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import type { Digest } from "#base/domain/contracts.ts";
import { explain } from "#base/domain/problem.ts";
import { nameOf, sorted } from "../../domain/path";
import { useWords } from "../../i18n/words";
import { FileIcon } from "../../kit/FileIcon";
import { useStore } from "../../state/store";
import { moments } from "../../transport/moments";
import { words } from "./i18n";

/** Entries of one folder drawn at once. */
const SHOWN = 200;

/** A moment and what its files are. */
export interface At {
  seq: number;
  snapshot: Digest;
}

/** What the whole tree shares. */
export interface Tree {
  chosen: string | undefined;
  open: ReadonlySet<string>;
  onChoose(path: string): void;
  onToggle(path: string): void;
}

/** One folder as it was; what lies in it is read once it is opened. */
export function Folder({ at, path, tree }: { at: At; path: string; tree: Tree }) {
  const t = useWords(words);
  const language = useStore((s) => s.language);
  const [shown, setShown] = useState(SHOWN);
  const { data, error } = useQuery({
    queryKey: ["folder then", at.snapshot, path],
    queryFn: ({ signal }) => moments.folder(at.seq, path, signal),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  if (error) return <p className="timeline-note">{explain(error).title}</p>;
  if (!data) return <p className="timeline-note">{t("reading")}</p>;
  const entries = sorted(data, "name", false, language);
  return (
    <ul>
      {entries.slice(0, shown).map((e) => (
        <li key={e.path}>
          {e.kind === "dir" ? (
            <>
              <button
                type="button"
                className="timeline-entry"
                aria-expanded={tree.open.has(e.path)}
                onClick={() => tree.onToggle(e.path)}
              >
                <ChevronRight size={14} aria-hidden />
                <span>{nameOf(e.path)}</span>
              </button>
              {tree.open.has(e.path) && <Folder at={at} path={e.path} tree={tree} />}
            </>
          ) : (
            <button
              type="button"
              className="timeline-entry"
              aria-current={tree.chosen === e.path ? "true" : undefined}
              onClick={() => tree.onChoose(e.path)}
            >
              <FileIcon file={e} size={15} />
              <span>{nameOf(e.path)}</span>
            </button>
          )}
        </li>
      ))}
      {entries.length > shown && (
        <li>
          <button type="button" className="timeline-entry" onClick={() => setShown(shown + 5 * SHOWN)}>
            {t("moreEntries", { n: entries.length - shown })}
          </button>
        </li>
      )}
    </ul>
  );
}
