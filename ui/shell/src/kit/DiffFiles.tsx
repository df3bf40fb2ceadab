import type { DiffView as Difference } from "#base/domain/views.ts";
import { DiffView } from "#base/kit/DiffView.tsx";
import "./difffiles.css";
import "./sidenone.css";

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
            <code>{f.path}</code> {f.change}
            {f.binary ? ", not text" : ""}
          </p>
        ),
      )}
      {difference.cut && <p className="side-none">There are more; the list was cut.</p>}
    </div>
  );
}
