import type { DiffView as Difference } from "../../domain/views";
import { DiffView } from "../../kit/DiffView";

/** A difference between two moments, file by file. */
export function Files({ difference, none }: { difference: Difference; none: string }) {
  if (difference.files.length === 0) return <p className="side-none">{none}</p>;
  return (
    <div className="files">
      {difference.files.map((f) =>
        f.diff ? (
          <DiffView key={f.path} text={f.diff} />
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
