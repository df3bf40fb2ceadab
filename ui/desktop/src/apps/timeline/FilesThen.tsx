import { useState } from "react";
import type { Digest } from "#base/domain/contracts.ts";
import type { Moment } from "#base/domain/views.ts";
import { useWords } from "../../i18n/words";
import { FileThen } from "./FileThen";
import { Folder } from "./Folder";
import { words } from "./i18n";

/** The files as they were: a tree, and the content of one of them, at first of `first`. Moments with the same snapshot have the same files. */
export function FilesThen({ moment, snapshot, first }: { moment: Moment; snapshot: Digest; first?: string }) {
  const t = useWords(words);
  const [chosen, setChosen] = useState(first);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set(["workspace", ...(first ? foldersOf(first) : [])]));
  const toggle = (path: string) => {
    const next = new Set(open);
    if (!next.delete(path)) next.add(path);
    setOpen(next);
  };
  return (
    <div className="timeline-files">
      <nav className="timeline-tree scroll" aria-label={t("files")}>
        <Folder
          at={{ seq: moment.seq, snapshot }}
          path=""
          tree={{ chosen, open, onChoose: setChosen, onToggle: toggle }}
        />
      </nav>
      {chosen ? (
        <FileThen at={{ seq: moment.seq, snapshot }} path={chosen} />
      ) : (
        <p className="timeline-note">{t("choose")}</p>
      )}
    </div>
  );
}

/** The folders that a file lies in. */
function foldersOf(path: string): string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join("/"));
}
