import { useQuery } from "@tanstack/react-query";
import type { Diff } from "#base/domain/contracts.ts";
import { verdictOf } from "#base/domain/plan.ts";
import type { Story, TaskStory } from "#base/domain/story.ts";
import { Badge } from "#base/kit/Badge.tsx";
import { DiffView } from "#base/kit/DiffView.tsx";
import { useSession } from "../../session/session";
import { t } from "../../words/late";

/** What each task changed, failed attempts too. */
export function Changes({ story }: { story: Story }) {
  const changed = story.tasks.filter((t) => t.result?.diff);
  if (changed.length === 0) {
    return <p className="run-reading">{story.finished ? t("runs.noneChanged") : t("runs.noneYet")}</p>;
  }
  return (
    <div className="changes">
      {changed.map((task) => (
        <Change key={task.id} task={task} />
      ))}
    </div>
  );
}

function Change({ task }: { task: TaskStory }) {
  const result = task.result;
  if (!result?.diff) return null;
  const verdict = verdictOf(result.verify);
  const kept = result.status === "ok";
  return (
    <section className="change">
      <h2>{result.summary || task.task.instruction}</h2>
      <p className="change-facts">
        <Badge tone={verdict.tone}>{verdict.words}</Badge>
        {kept ? (
          result.checkpoint && <code>{result.checkpoint.slice(0, 7)}</code>
        ) : (
          <Badge tone="bad">{t("runs.attemptOnly")}</Badge>
        )}
      </p>
      <DiffText diff={result.diff} />
    </section>
  );
}

/** A diff from the event, or from the blob it is in. */
function DiffText({ diff }: { diff: Diff }) {
  const session = useSession();
  const { data, error } = useQuery({
    queryKey: ["blob", diff.blob],
    enabled: diff.content === undefined && diff.blob !== undefined,
    queryFn: () => session.api.blob(diff.blob ?? ""),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error) return <p className="run-reading">{error.message}</p>;
  const text = diff.content ?? data;
  return text === undefined ? <p className="run-reading">{t("page.reading")}</p> : <DiffView text={text} />;
}
