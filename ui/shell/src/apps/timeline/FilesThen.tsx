import { useMemo, useState } from "react";
import type { DiffView, Moment } from "#base/domain/views.ts";
import { t } from "../../words/late";
import { useStep } from "./Compare";
import { FileThen } from "./FileThen";
import { Folder } from "./Folder";

/** The files as they were: a tree, and the content of one of them. */
export function FilesThen({
  moment,
  since,
  before,
}: {
  moment: Moment;
  since: DiffView | undefined;
  before: number | undefined;
}) {
  const step = useStep(moment, before).data;
  const [asked, setAsked] = useState<string>();
  const [folders, setFolders] = useState<ReadonlyMap<string, boolean>>(new Map());
  const changed = useMemo(() => new Set(step?.files.map((f) => f.path)), [step]);
  const differ = useMemo(() => new Set(since?.files.map((f) => f.path)), [since]);
  // Until a file is asked for, the one that was changed last is shown.
  const touched = step?.files.find((f) => f.change !== "deleted")?.path;
  const [last, setLast] = useState(touched);
  if (touched && touched !== last) setLast(touched);
  const shown = asked ?? touched ?? last;
  const opened = useMemo(() => parentsOf([...(shown ? [shown] : []), ...changed, ...differ]), [shown, changed, differ]);
  if (moment.collected) {
    return <p className="side-none">{t("time.collected")}</p>;
  }
  if (!moment.snapshot) return <p className="side-none">{t("time.noFiles")}</p>;
  return (
    <div className="tree-view">
      <nav className="tree scroll" aria-label={t("time.filesThen")}>
        <Folder
          moment={moment}
          path=""
          tree={{
            chosen: shown,
            changed,
            differ,
            isOpen: (path) => folders.get(path) ?? opened.has(path),
            onChoose: (path) => setAsked(path === asked ? undefined : path),
            onToggle: (path, open) => setFolders(new Map(folders).set(path, open)),
          }}
        />
      </nav>
      {shown ? (
        <FileThen moment={moment} path={shown} step={step?.files.find((f) => f.path === shown)} />
      ) : (
        <p className="tree-none">{t("time.chooseFile")}</p>
      )}
    </div>
  );
}

/** All folders that lead to paths, at most so many paths. */
function parentsOf(paths: readonly string[]): Set<string> {
  const parents = new Set(["workspace"]);
  for (const path of paths.slice(0, 50)) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1))
      parents.add(path.slice(0, end));
  }
  return parents;
}
