import { useQuery } from "@tanstack/react-query";
import { FolderGit2, GitCommitHorizontal, History } from "lucide-react";
import { useMemo, useState } from "react";
import { usePerform } from "../../actions/hotkeys";
import { actions } from "../../actions/registry";
import { useSession } from "../../app/session";
import { type Moment, timelineOf } from "../../domain/timeline";
import { Badge } from "../../kit/Badge";
import { Button } from "../../kit/Button";
import { When } from "../../kit/When";
import { useStore } from "../../state/store";
import { DiffNow } from "./DiffNow";
import { Rewind } from "./Rewind";
import "./timeline.css";

const icons = { checkpoint: GitCommitHorizontal, rewind: History, repo: FolderGit2 };

/** Moments that can be looked at and gone back to. */
export function Timeline() {
  const session = useSession();
  const perform = usePerform();
  const events = useStore((s) => s.events);
  const runs = useStore((s) => s.runs);
  const [comparing, setComparing] = useState<Moment>();
  const [rewinding, setRewinding] = useState<Moment>();
  const { data: checkpoints = [] } = useQuery({ queryKey: ["checkpoints"], queryFn: () => session.api.checkpoints() });
  const moments = useMemo(() => timelineOf(checkpoints, events, runs), [checkpoints, events, runs]);
  const make = actions.find((a) => a.id === "checkpoint.make");
  return (
    <div className="timeline">
      {make && <Button onClick={() => void perform(make)}>Make a checkpoint</Button>}
      {moments.length === 0 && (
        <p className="side-none">Each verified change becomes a checkpoint. You can go back to any of them.</p>
      )}
      <ol className="moments">
        {moments.map((m) => (
          <Entry key={m.seq} moment={m} onCompare={() => setComparing(m)} onRewind={() => setRewinding(m)} />
        ))}
      </ol>
      {comparing && <DiffNow moment={comparing} onClose={() => setComparing(undefined)} />}
      {rewinding && <Rewind moment={rewinding} onClose={() => setRewinding(undefined)} />}
    </div>
  );
}

function Entry({ moment, onCompare, onRewind }: { moment: Moment; onCompare(): void; onRewind(): void }) {
  const session = useSession();
  const Icon = icons[moment.kind];
  const { run } = moment;
  return (
    <li className="moment">
      <Icon size={16} aria-hidden className="moment-icon" />
      <div className="moment-body">
        <h3>{moment.title}</h3>
        <p className="moment-facts">
          <When time={moment.at} /> · {moment.detail}
        </p>
        {moment.kind === "checkpoint" && (
          <Badge tone={moment.verified ? "good" : "unsure"}>{moment.verified ? "Verified" : "Not verified"}</Badge>
        )}
        <div className="moment-acts">
          <Button look="quiet" onClick={onCompare}>
            Compare with now
          </Button>
          <Button look="quiet" onClick={onRewind}>
            {moment.kind === "rewind" ? "Undo" : "Rewind files to here"}
          </Button>
          {run && (
            <Button look="quiet" onClick={() => session.go({ page: "run", run })}>
              Open run
            </Button>
          )}
        </div>
      </div>
    </li>
  );
}
