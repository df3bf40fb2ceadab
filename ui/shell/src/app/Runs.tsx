import { lazy, Suspense } from "react";
import { names } from "#base/domain/names.ts";
import { named } from "#base/domain/words.ts";
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
import { t } from "../words/late";

// Only those who look back need it.
const Time = lazy(() => import("../apps/timeline/Time"));

const sides = [
  { id: "work", title: () => t("page.work") },
  { id: "timeline", title: () => named(names.timeline) },
  { id: "events", title: () => t("page.events") },
] as const;

const sideTabs = () => sides.map(({ id, title }) => ({ id, title: title() }));

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
        <Suspense fallback={<p className="run-reading">{t("time.opening")}</p>}>
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
    <aside className="desk-side" aria-label={t("page.details")}>
      <div className="desk-tabs">
        <Tabs label={t("page.details")} panel="side-panel" tabs={sideTabs()} chosen={chosen} onChoose={setPanel} />
      </div>
      <div
        id="side-panel"
        role="tabpanel"
        aria-label={sides.find((s) => s.id === chosen)?.title()}
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
    { id: "runs", title: named(names.runs) },
    { id: "main", title: t("page.story") },
    ...sideTabs(),
  ];
  return (
    <nav className="desk-screens" aria-label={t("page.screens")}>
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
