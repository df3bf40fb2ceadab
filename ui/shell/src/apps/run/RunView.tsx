import { useState } from "react";
import type { ID } from "#base/domain/contracts.ts";
import type { Story } from "#base/domain/story.ts";
import { Undo } from "../../actions/Undo";
import { Tabs } from "../../kit/Tabs";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/late";
import { Changes } from "./Changes";
import { Document } from "./Document";
import { QuestionCard } from "./QuestionCard";
import { RunBar } from "./RunBar";
import { Said } from "./Said";
import "./run.css";

/** One run: its document as it fills in, and the changes it made. */
export function RunView({ run }: { run: ID }) {
  const story = useStore((s) => s.stories[run]);
  const [tab, setTab] = useState<"document" | "changes">("document");
  if (!story) return <p className="run-reading">{t("runs.readingRun")}</p>;
  if (story.seq === 0) return <p className="run-reading">{t("runs.noRun")}</p>;
  const changes = story.tasks.filter((t) => t.result?.diff).length;
  return (
    <div className="run scroll">
      <div className="run-top">
        <RunBar story={story} />
        <Tabs<"document" | "changes">
          label={t("runs.parts")}
          panel="run-panel"
          chosen={tab}
          onChoose={setTab}
          tabs={[
            { id: "document", title: t("runs.document") },
            { id: "changes", title: t("runs.changes"), count: changes },
          ]}
        />
      </div>
      <div
        id="run-panel"
        role="tabpanel"
        aria-label={tab === "document" ? t("runs.document") : t("runs.changes")}
        className="run-panel"
      >
        {(tab === "changes" || story.document) && <h1 className="visually-hidden">{story.prompt}</h1>}
        <Questions story={story} />
        {tab === "document" ? <Document story={story} /> : <Changes story={story} />}
        <Said story={story} />
      </div>
      <UndoAsked story={story} />
    </div>
  );
}

/** Asks whether what the run changed is to be undone, where the address says so; then the desktop is shown again. */
function UndoAsked({ story }: { story: Story }) {
  const session = useSession();
  const asked = useStore((s) => s.route.page === "run" && s.route.run === story.run && s.route.undo === true);
  if (!asked) return null;
  const title = story.prompt.split("\n")[0] ?? "";
  const back = { page: "desktop" } as const;
  return <Undo of={story.run} title={title} then={back} onClose={() => session.go(back)} />;
}

/** What waits for the person, before anything else. */
function Questions({ story }: { story: Story }) {
  if (story.finished) return null;
  return story.questions
    .filter((q) => q.answer === undefined)
    .map((q) => <QuestionCard key={q.question.id} run={story.run} question={q.question} />);
}
