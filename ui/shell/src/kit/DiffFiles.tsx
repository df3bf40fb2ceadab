import type { DiffView as Difference } from "#base/domain/views.ts";
import { DiffView } from "#base/kit/DiffView.tsx";
import { t } from "../words/words";
import "./difffiles.css";
import "./sidenone.css";

const changes = {
  added: "page.added",
  modified: "page.modified",
  deleted: "page.deleted",
  renamed: "page.renamed",
} as const;

/** A difference between two moments, file by file; `folded` shows no lines until asked. */
export function Files({ difference, none, folded }: { difference: Difference; none: string; folded?: boolean }) {
  if (difference.files.length === 0) return none ? <p className="side-none">{none}</p> : null;
  return (
    <div className="files">
      {difference.files.map((f) =>
        f.diff ? (
          <DiffView key={f.path} text={f.diff} {...(folded ? { folded } : {})} />
        ) : (
          <p key={f.path} className="files-plain">
            <code>{f.path}</code>{" "}
            {f.binary ? t("page.notText", { change: t(changes[f.change]) }) : t(changes[f.change])}
          </p>
        ),
      )}
      {difference.cut && <p className="side-none">{t("page.moreCut")}</p>}
    </div>
  );
}
