import { Disc3, FolderGit2, OctagonX } from "lucide-react";
import type { Story } from "#base/domain/story.ts";
import { isOpen } from "#base/domain/views.ts";
import { Badge, type Tone } from "#base/kit/Badge.tsx";
import { Button } from "#base/kit/Button.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import { usePerform } from "../../actions/hotkeys";
import { actions } from "../../actions/registry";
import { short, span } from "../../domain/time";
import { StateIcon, stateName } from "../../kit/StateIcon";
import { When } from "../../kit/When";
import { Signature } from "./Signature";

const tones: Record<string, Tone> = { done: "good", failed: "bad", waiting: "unsure", cancelled: "neutral" };

/** The facts of a run in one row, and the way to stop it. */
export function RunBar({ story }: { story: Story }) {
  const perform = usePerform();
  const stop = actions.find((a) => a.id === "run.stop");
  return (
    <div className="run-bar">
      <Badge tone={tones[story.state] ?? "accent"}>
        <StateIcon state={story.state} size={14} />
        <span aria-hidden>{story.stopping ? "Stopping" : stateName(story.state)}</span>
      </Badge>
      {story.recorded && (
        <Badge tone="unsure" title="The model’s words were recorded earlier. All else really happens.">
          <Disc3 size={13} aria-hidden /> Recording
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
      {isOpen(story.state) && stop && (
        <Button look="danger" className="run-stop" disabled={story.stopping} onClick={() => unawaited(perform(stop))}>
          <OctagonX size={15} aria-hidden /> Stop <kbd>Ctrl .</kbd>
        </Button>
      )}
    </div>
  );
}

function Spent({ story: { usage } }: { story: Story }) {
  if (usage.calls === 0) return null;
  const cost = usage.cost_usd > 0 ? ` · $${usage.cost_usd.toFixed(usage.cost_usd < 0.1 ? 4 : 2)}` : "";
  const detail = `${usage.input_tokens} in, ${usage.output_tokens} out, ${usage.cached_tokens} cached`;
  return (
    <span title={detail}>
      {` · ${usage.calls} model ${usage.calls === 1 ? "call" : "calls"} · ${short(usage.input_tokens + usage.output_tokens)} tokens${cost}`}
    </span>
  );
}
