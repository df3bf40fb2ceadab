import type { Run } from "#base/domain/views.ts";
import { endOf, StateIcon, stateName } from "../../kit/StateIcon";
import { useSession } from "../../session/session";
import { t } from "../../words/late";

/** The runs that had begun, as they stood. */
export function RunsThen({ runs }: { runs: readonly { run: Run; state: Run["state"] }[] }) {
  const session = useSession();
  if (runs.length === 0) return <p className="side-none">{t("time.noRuns")}</p>;
  return (
    <ul className="then-list">
      {runs.map(({ run, state }) => (
        <li key={run.id}>
          <button type="button" className="then-item" onClick={() => session.go({ page: "run", run: run.id })}>
            <StateIcon state={state === "running" ? "pending" : endOf(state, run.status)} />
            <span>{run.prompt}</span>
            <small>{state === "running" ? t("time.atWorkThen") : stateName(endOf(state, run.status))}</small>
          </button>
        </li>
      ))}
    </ul>
  );
}
