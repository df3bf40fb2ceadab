import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSession } from "../../app/session";
import type { DiffView, Moment } from "../../domain/views";
import { Tabs } from "../../kit/Tabs";
import { DocumentsChanged } from "./DocumentsThen";
import { Files } from "./Files";

/** What is different between this moment and now, or the mark before. */
export function Compare({
  moment,
  past,
  since,
  before,
}: {
  moment: Moment;
  past: boolean;
  since: UseQueryResult<DiffView>;
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
            { id: "now", title: "Since then" },
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
        {what === "now" && <DocumentsChanged moment={moment} />}
      </div>
    </div>
  );
}

/** What the step that led to a moment changed. Both ends are past, so it stays. */
export function useStep(moment: Moment, before: number | undefined): UseQueryResult<DiffView> {
  const session = useSession();
  return useQuery({
    queryKey: ["step", before, moment.seq],
    queryFn: () => session.api.diff(before ?? 0, moment.seq),
    enabled: before !== undefined && before < moment.seq && moment.snapshot !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}
