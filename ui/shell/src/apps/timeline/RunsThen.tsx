import { useSession } from "../../app/session";
import type { Moment, Run } from "../../domain/views";
import { StateIcon, stateName } from "../../kit/StateIcon";

/** The runs that had begun, as they stood. */
export function RunsThen({ runs }: { runs: readonly { run: Run; state: Run["state"] }[] }) {
  const session = useSession();
  if (runs.length === 0) return <p className="side-none">Nothing had been asked for yet.</p>;
  return (
    <ul className="then-list">
      {runs.map(({ run, state }) => (
        <li key={run.id}>
          <button type="button" className="then-item" onClick={() => session.go({ page: "run", run: run.id })}>
            <StateIcon state={state === "running" ? "pending" : state} />
            <span>{run.prompt}</span>
            <small>{state === "running" ? "At work then" : stateName(state)}</small>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Windows, theme and settings as they were. */
export function DesktopThen({ moment }: { moment: Moment }) {
  return (
    <ul className="then-list">
      {moment.windows.map((w) => (
        <li key={w.id} className="then-item">
          <span>{w.title || w.app}</span>
          <small>
            {w.app},{" "}
            {w.state === "normal" ? `${w.bounds.width} × ${w.bounds.height} at ${w.bounds.x}, ${w.bounds.y}` : w.state}
          </small>
        </li>
      ))}
      {moment.settings.map((s) => (
        <li key={s.key} className="then-item">
          <span>{s.key.replace("setting/", "")}</span>
          <small>{s.theme?.name ?? s.value}</small>
        </li>
      ))}
    </ul>
  );
}
