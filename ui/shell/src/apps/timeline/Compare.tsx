import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { changeSaid } from "#base/domain/marksaid.ts";
import { names } from "#base/domain/names.ts";
import type { Moment, MomentsView } from "#base/domain/views.ts";
import { named } from "#base/domain/words.ts";
import { DiffView } from "#base/kit/DiffView.tsx";
import { whenWords } from "../../domain/time";
import { Files } from "../../kit/DiffFiles";
import { Tabs } from "../../kit/Tabs";
import { useSession } from "../../session/session";
import { t } from "../../words/late";

/** What is different between this moment and now, or the mark before. */
export function Compare({
  moment,
  past,
  since,
  before,
}: {
  moment: Moment;
  past: boolean;
  since: UseQueryResult<MomentsView>;
  before: number | undefined;
}) {
  const [chosen, setChosen] = useState<"now" | "before">("now");
  const step = useStep(moment, before);
  const what = past ? chosen : "before";
  const { data, error } = what === "now" ? since : step;
  return (
    <div className="compare">
      {past && (
        <Tabs<"now" | "before">
          label={t("time.compareWith")}
          panel="compare-panel"
          chosen={what}
          onChoose={setChosen}
          tabs={[
            { id: "now", title: named(names.sinceThen) },
            { id: "before", title: t("time.inStep") },
          ]}
        />
      )}
      <div id="compare-panel" role="tabpanel" aria-label={t("time.comparison")}>
        {error && <p className="side-none">{error.message}</p>}
        {!data && !error && <p className="side-none">{t("time.comparing")}</p>}
        {data && <Files difference={data} none={what === "now" ? t("time.sameFiles") : t("time.stepNoFiles")} />}
        {data && <Beside difference={data} />}
      </div>
    </div>
  );
}

/** Events told at most. */
const TOLD = 200;

/** What differs besides files, and what happened between. */
function Beside({ difference }: { difference: MomentsView }) {
  const { documents, changes, events } = difference;
  return (
    <>
      {documents.map((d) => {
        const [from = "", to = ""] = [d.from, d.to].map((n) => (n === undefined ? t("time.none") : `v${n}`));
        const versions = t("time.versions", { from, to });
        return (
          <section key={d.id} className="compare-document">
            <h2>{t("time.document", { title: d.title })}</h2>
            {d.diff ? <DiffView text={titled(d.diff, versions)} /> : <p>{versions}</p>}
          </section>
        );
      })}
      {changes.map(changeSaid).map((words) => (
        <p key={words}>{words}</p>
      ))}
      {events.length > 0 && (
        <details className="compare-events">
          <summary>{t("time.between")}</summary>
          <ol>
            {events.slice(0, TOLD).map((e) => (
              <li key={e.seq}>
                <time dateTime={e.at}>{whenWords(e.at, Date.now())}</time> {e.text || e.type}
              </li>
            ))}
          </ol>
          {(events.length > TOLD || difference.events_cut) && <p className="side-none">{t("time.moreInEvents")}</p>}
        </details>
      )}
    </>
  );
}

/** A diff under a name of its own. */
function titled(diff: string, name: string): string {
  return diff.replace(/^--- .*\n\+\+\+ .*\n/, `--- a/${name}\n+++ b/${name}\n`);
}

/** What the step that led to a moment changed. Both ends are past, so it stays. */
export function useStep(moment: Moment, before: number | undefined): UseQueryResult<MomentsView> {
  const session = useSession();
  return useQuery({
    queryKey: ["step", before, moment.seq],
    queryFn: () => session.api.moments.diff(before ?? 0, moment.seq),
    enabled: before !== undefined && before < moment.seq && moment.snapshot !== undefined && !moment.collected,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}
