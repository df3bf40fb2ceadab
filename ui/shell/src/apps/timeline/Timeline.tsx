import { History } from "lucide-react";
import { useCallback, useMemo } from "react";
import { Button } from "#base/kit/Button.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import { VirtualList } from "#base/kit/VirtualList.tsx";
import { usePerform } from "../../actions/hotkeys";
import { actions } from "../../actions/registry";
import { placeOf, type Row, rowsOf } from "../../domain/marks";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/late";
import { MarkRow } from "./MarkRow";
import { useMarks, useSeq } from "./useTimeline";
import "./timeline.css";

const heightOf = (row: Row) => (row.is === "head" ? 40 : 60);
const keyOf = (row: Row) => row.key;

/** What happened, newest first; each moment can be looked at. */
export function Timeline() {
  const session = useSession();
  const perform = usePerform();
  const marks = useMarks();
  const seq = useSeq();
  const runs = useStore((s) => s.runs);
  const looking = useStore((s) => s.route.page === "time");
  const rows = useMemo(() => rowsOf(marks, runs), [marks, runs]);
  const chosen = seq === undefined ? undefined : marks[placeOf(marks, seq)]?.seq;
  const place = useMemo(() => rows.findIndex((r) => r.is === "mark" && r.mark.seq === chosen), [rows, chosen]);
  const earlier = useCallback(() => unawaited(session.marks.earlier()), [session]);
  const make = actions.find((a) => a.id === "checkpoint.make");
  return (
    <div className="timeline">
      <div className="timeline-acts">
        {!looking && (
          <Button onClick={() => session.go({ page: "time" })}>
            <History size={15} aria-hidden /> {t("launcher.openTimeline")}
          </Button>
        )}
        {make && (
          <Button look={looking ? "plain" : "quiet"} onClick={() => unawaited(perform(make))}>
            {t("launcher.checkpoint")}
          </Button>
        )}
      </div>
      {marks.length === 0 && <p className="side-none">{t("time.leavesMarks")}</p>}
      <VirtualList
        label={t("time.newestFirst")}
        rows={rows}
        keyOf={keyOf}
        heightOf={heightOf}
        reveal={place < 0 ? 0 : place}
        onEnd={earlier}
      >
        {(row) =>
          row.is === "head" ? (
            <h2 className="marks-head">{row.title}</h2>
          ) : (
            <MarkRow mark={row.mark} inRun={row.inRun} chosen={row.mark.seq === chosen} marks={marks} />
          )
        }
      </VirtualList>
    </div>
  );
}
