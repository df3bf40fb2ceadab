import { CirclePause, Disc3, FolderGit2, OctagonX, Play } from "lucide-react";
import { useState } from "react";
import type { Story } from "#base/domain/story.ts";
import { isOpen } from "#base/domain/views.ts";
import { Badge, type Tone } from "#base/kit/Badge.tsx";
import { Button } from "#base/kit/Button.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { usePerform } from "../../actions/hotkeys";
import { actions } from "../../actions/registry";
import { dollars, short, span } from "../../domain/time";
import { endOf, StateIcon, stateName } from "../../kit/StateIcon";
import { When } from "../../kit/When";
import { useSession } from "../../session/session";
import { t } from "../../words/late";
import { Signature } from "./Signature";

const tones: Record<string, Tone> = {
  done: "good",
  partly: "unsure",
  not_done: "unsure",
  failed: "bad",
  waiting: "unsure",
  cancelled: "neutral",
};

/** The facts of a run in one row, and the way to stop it. */
export function RunBar({ story }: { story: Story }) {
  const perform = usePerform();
  const stop = actions.find((a) => a.id === "run.stop");
  const state = endOf(story.state, story.finished?.status);
  return (
    <div className="run-bar">
      {story.paused && !story.stopping ? (
        <Badge tone="unsure">
          <CirclePause size={14} aria-hidden /> {t("runs.paused")}
        </Badge>
      ) : (
        <Badge tone={tones[state] ?? "accent"}>
          <StateIcon state={state} size={14} />
          <span aria-hidden>{story.stopping ? t("runs.stopping") : stateName(state)}</span>
        </Badge>
      )}
      {story.recorded && (
        <Badge tone="unsure" title={t("runs.recordedWords")}>
          <Disc3 size={13} aria-hidden /> {t("runs.recording")}
        </Badge>
      )}
      {story.repo && (
        <Badge>
          <FolderGit2 size={13} aria-hidden /> {story.repo}
        </Badge>
      )}
      <Signature story={story} />
      <span className="run-facts">
        {story.finishedAt ? (
          span(Date.parse(story.finishedAt) - Date.parse(story.startedAt))
        ) : (
          <When time={story.startedAt} />
        )}
        <Spent story={story} />
      </span>
      {isOpen(story.state) && <Pause story={story} />}
      {isOpen(story.state) && stop && (
        <Button look="danger" className="run-stop" disabled={story.stopping} onClick={() => unawaited(perform(stop))}>
          <OctagonX size={15} aria-hidden /> {t("bar.stop")} <kbd>{t("runs.ctrlDot")}</kbd>
        </Button>
      )}
    </div>
  );
}

/** Lets nothing more begin in the run, or lets it go on where it was. */
function Pause({ story }: { story: Story }) {
  const { api } = useSession();
  const [busy, setBusy] = useState(false);
  const press = () => {
    setBusy(true);
    (story.paused ? api.resume(story.run) : api.pause(story.run)).catch(notifyProblem).finally(() => setBusy(false));
  };
  return (
    <Button className="run-pause" disabled={busy || story.stopping} title={t("runs.pauseMore")} onClick={press}>
      {story.paused ? <Play size={15} aria-hidden /> : <CirclePause size={15} aria-hidden />}{" "}
      {t(story.paused ? "runs.resume" : "runs.pause")}
    </Button>
  );
}

function Spent({ story: { usage } }: { story: Story }) {
  if (usage.calls === 0) return null;
  const digits = usage.cost_usd < 0.1 ? 4 : 2;
  const cost = usage.cost_usd > 0 ? ` · ${dollars(usage.cost_usd, digits, digits)}` : "";
  const detail = t("runs.tokensDetail", {
    input: String(usage.input_tokens),
    output: String(usage.output_tokens),
    cached: String(usage.cached_tokens),
  });
  return (
    <span title={detail}>
      {t("runs.spent", { n: usage.calls, tokens: short(usage.input_tokens + usage.output_tokens), cost })}
    </span>
  );
}
