import { TriangleAlert } from "lucide-react";
import { names } from "#base/domain/names.ts";
import type { Mark } from "#base/domain/views.ts";
import { named } from "#base/domain/words.ts";
import { changedWords, wordsOf } from "../../domain/marks";
import { When } from "../../kit/When";
import { useSession } from "../../session/session";
import { t } from "../../words/late";
import { MarkIcon } from "./MarkIcon";

/** One mark of the list; pressing it shows the computer as it was then. */
export function MarkRow({
  mark,
  inRun,
  chosen,
  marks,
}: {
  mark: Mark;
  inRun: boolean;
  chosen: boolean;
  marks: readonly Mark[];
}) {
  const session = useSession();
  const changed = changedWords(mark);
  return (
    <button
      type="button"
      className={`mark ${inRun ? "mark-inrun" : ""}`}
      aria-current={chosen ? "true" : undefined}
      onClick={() => session.go({ page: "time", seq: mark.seq })}
    >
      <MarkIcon mark={mark} />
      <span className="mark-text">{wordsOf(mark, marks, Date.now())}</span>
      <span className="mark-facts">
        <When time={mark.at} />
        {changed && <span>· {changed}</span>}
        {mark.verified && <span className="mark-good">· {named(names.verified)}</span>}
        {mark.withheld?.length ? (
          <span className="mark-warn">
            <TriangleAlert size={13} aria-hidden /> {t("time.keyFiles", { n: mark.withheld.length })}
          </span>
        ) : null}
      </span>
    </button>
  );
}
