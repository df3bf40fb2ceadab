import { Plus } from "lucide-react";
import type { Run } from "#base/domain/views.ts";
import { Button } from "#base/kit/Button.tsx";
import { endOf, StateIcon } from "../../kit/StateIcon";
import { When } from "../../kit/When";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/late";
import "./runs.css";

/** All runs, newest first. */
export function RunList() {
  const session = useSession();
  const runs = useStore((s) => s.runs);
  const route = useStore((s) => s.route);
  const begin = () => {
    session.go({ page: "runs" });
    useStore.getState().setPanel("main");
    document.getElementById("prompt")?.focus();
  };
  return (
    <nav className="runs" aria-label={t("time.runs")}>
      <div className="runs-head">
        <h2>{t("time.runs")}</h2>
        <Button
          look="quiet"
          className="button-icon"
          aria-label={t("runs.newPrompt")}
          title={t("runs.newPrompt")}
          onClick={begin}
        >
          <Plus size={17} aria-hidden />
        </Button>
      </div>
      {runs.length === 0 && <p className="runs-none">{t("runs.listed")}</p>}
      <ul className="runs-list scroll">
        {runs.map((run) => (
          <Item key={run.id} run={run} chosen={route.page === "run" && route.run === run.id} />
        ))}
      </ul>
    </nav>
  );
}

function Item({ run, chosen }: { run: Run; chosen: boolean }) {
  const session = useSession();
  return (
    <li>
      <a
        href={session.addressOf({ page: "run", run: run.id })}
        className="runs-item"
        aria-current={chosen ? "page" : undefined}
        onClick={(e) => {
          if (e.ctrlKey || e.metaKey) return;
          e.preventDefault();
          session.go({ page: "run", run: run.id });
        }}
      >
        <StateIcon state={endOf(run.state, run.status)} />
        <span className="runs-text">{run.prompt}</span>
        <span className="runs-meta">
          <When time={run.started_at} />
          {run.repo && ` · ${run.repo}`}
        </span>
      </a>
    </li>
  );
}
