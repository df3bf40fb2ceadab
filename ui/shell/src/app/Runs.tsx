import { lazy, Suspense } from "react";
import { Composer } from "../apps/composer/Composer";
import { Events } from "../apps/events/Events";
import { RunView } from "../apps/run/RunView";
import { RunList } from "../apps/runs/RunList";
import { Timeline } from "../apps/timeline/Timeline";
import { Welcome } from "../apps/welcome/Welcome";
import { Work } from "../apps/work/Work";
import { Tabs } from "../kit/Tabs";
import { useStore } from "../state/store";
import type { Panel } from "../state/view";

// Only those who look back need it.
const Time = lazy(() => import("../apps/timeline/Time"));

const sides = [
  { id: "work", title: "Work" },
  { id: "timeline", title: "Timeline" },
  { id: "events", title: "Events" },
] as const;

/** The pages of runs and of the timeline: everything without the desktop. */
export default function Runs({ page }: { page: "runs" | "run" | "time" }) {
  return (
    <>
      <div className="desk-body">
        <aside className="desk-runs">
          <RunList />
        </aside>
        <main className="desk-main" tabIndex={-1}>
          <div className="desk-view main">
            <Page />
          </div>
          {page !== "time" && (
            <div className="desk-composer">
              <Composer />
            </div>
          )}
        </main>
        <Side />
      </div>
      <Screens />
    </>
  );
}

function Page() {
  const route = useStore((s) => s.route);
  switch (route.page) {
    case "run":
      return <RunView key={route.run} run={route.run} />;
    case "time":
      return (
        <Suspense fallback={<p className="run-reading">Opening the timeline…</p>}>
          <Time />
        </Suspense>
      );
    default:
      return <Welcome />;
  }
}

function Side() {
  const panel = useStore((s) => s.panel);
  const setPanel = useStore((s) => s.setPanel);
  const route = useStore((s) => s.route);
  const fallback = route.page === "run" ? "work" : "timeline";
  const chosen = panel === "main" || panel === "runs" ? fallback : panel;
  return (
    <aside className="desk-side" aria-label="Details">
      <div className="desk-tabs">
        <Tabs label="Details" panel="side-panel" tabs={sides} chosen={chosen} onChoose={setPanel} />
      </div>
      <div
        id="side-panel"
        role="tabpanel"
        aria-label={sides.find((s) => s.id === chosen)?.title}
        className="desk-panel scroll"
      >
        {chosen === "work" && <Work run={route.page === "run" ? route.run : undefined} />}
        {chosen === "timeline" && <Timeline />}
        {chosen === "events" && <Events />}
      </div>
    </aside>
  );
}

/** On a narrow page one screen is seen at a time. */
function Screens() {
  const panel = useStore((s) => s.panel);
  const setPanel = useStore((s) => s.setPanel);
  const screens: { id: Panel; title: string }[] = [
    { id: "runs", title: "Runs" },
    { id: "main", title: "Story" },
    ...sides,
  ];
  return (
    <nav className="desk-screens" aria-label="Screens">
      {screens.map((s) => (
        <button
          type="button"
          key={s.id}
          aria-current={panel === s.id ? "true" : undefined}
          onClick={() => setPanel(s.id)}
        >
          {s.title}
        </button>
      ))}
    </nav>
  );
}
