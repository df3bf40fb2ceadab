import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { names } from "#base/domain/names.ts";
import type { Moment, MomentsView } from "#base/domain/views.ts";
import { DiffView } from "#base/kit/DiffView.tsx";
import { whenWords } from "../../domain/time";
import { Files } from "../../kit/DiffFiles";
import { Tabs } from "../../kit/Tabs";
import { useSession } from "../../session/session";

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
          label="Compare with"
          panel="compare-panel"
          chosen={what}
          onChoose={setChosen}
          tabs={[
            { id: "now", title: names.sinceThen.en },
            { id: "before", title: "In this step" },
          ]}
        />
      )}
      <div id="compare-panel" role="tabpanel" aria-label="Comparison">
        {error && <p className="side-none">{error.message}</p>}
        {!data && !error && <p className="side-none">Comparing…</p>}
        {data && (
          <Files
            difference={data}
            none={what === "now" ? "The files are as they were then." : "This step changed no files."}
          />
        )}
        {data && <Beside difference={data} />}
      </div>
    </div>
  );
}

/** Events told at most. */
const TOLD = 200;

/** What differs besides files, and what happened between. */
function Beside({ difference }: { difference: MomentsView }) {
  const { documents, desktop, events } = difference;
  return (
    <>
      {documents.map((d) => {
        const versions = [d.from, d.to].map((n) => (n === undefined ? "none" : `v${n}`)).join(" to ");
        return (
          <section key={d.id} className="compare-document">
            <h2>Document “{d.title}”</h2>
            {d.diff ? <DiffView text={named(d.diff, versions)} /> : <p>{versions}</p>}
          </section>
        );
      })}
      {desktop.map((words) => (
        <p key={words}>{words}</p>
      ))}
      {events.length > 0 && (
        <details className="compare-events">
          <summary>What happened between</summary>
          <ol>
            {events.slice(0, TOLD).map((e) => (
              <li key={e.seq}>
                <time dateTime={e.at}>{whenWords(e.at, Date.now())}</time> {e.text || e.type}
              </li>
            ))}
          </ol>
          {(events.length > TOLD || difference.events_cut) && <p className="side-none">There is more in Events.</p>}
        </details>
      )}
    </>
  );
}

/** A diff under a name of its own. */
function named(diff: string, name: string): string {
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
