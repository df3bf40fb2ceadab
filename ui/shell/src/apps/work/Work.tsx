import type { ID } from "#base/domain/contracts.ts";
import { type StepView, stepsOf } from "#base/domain/plan.ts";
import type { Story } from "#base/domain/story.ts";
import { StateIcon, stateName } from "../../kit/StateIcon";
import { useStore } from "../../state/store";
import { t } from "../../words/late";
import { TaskCard } from "./TaskCard";
import "../../kit/sidenone.css";
import "./work.css";

/** What the Director planned and the Associate does. */
export function Work({ run }: { run: ID | undefined }) {
  const story = useStore((s) => (run ? s.stories[run] : undefined));
  if (!story || story.seq === 0) return <p className="side-none">{t("work.openRun")}</p>;
  const { steps, loose } = stepsOf(story);
  return (
    <div className="work">
      {story.plan ? <p className="work-goal">{story.plan.goal}</p> : <Unplanned story={story} />}
      <ol className="work-steps">
        {steps.map((view) => (
          <Step key={view.step.id} view={view} />
        ))}
      </ol>
      {loose.map((task) => (
        <TaskCard key={task.id} task={task} />
      ))}
      <Incidents story={story} />
    </div>
  );
}

function Unplanned({ story }: { story: Story }) {
  if (story.finished) return <p className="side-none">{t("work.noPlan")}</p>;
  return <p className="side-none">{t("work.planning")}</p>;
}

function Step({ view: { step, state, tasks } }: { view: StepView }) {
  return (
    <li className="work-step">
      <div className="work-step-head">
        <StateIcon state={state === "waiting" ? "pending" : state} size={17} />
        <h2>{step.title}</h2>
        <span className="work-state" aria-hidden>
          {state === "waiting" ? "" : stateName(state)}
        </span>
      </div>
      {tasks.map((task) => (
        <TaskCard key={task.id} task={task} />
      ))}
    </li>
  );
}

/** What did not go as planned, in words. */
function Incidents({ story }: { story: Story }) {
  const lines = [
    ...story.refusedPlans.map((problems) => t("work.planRefused", { problems: problems.join("; ") })),
    ...story.egress.map((e) => t("work.egress", { host: e.host, policy: e.policy })),
    ...story.budgets.map((b) => t("work.budget", { scope: b.scope, max: String(b.max), limit: b.limit })),
  ];
  const added = story.steering.map((s) => t("work.added", { text: s.text }));
  if (lines.length + added.length === 0) return null;
  return (
    <ul className="work-incidents">
      {[...lines, ...added].map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
