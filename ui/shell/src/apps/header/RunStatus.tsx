import { OctagonX } from "lucide-react";
import { isOpen } from "#base/domain/views.ts";
import { Button } from "#base/kit/Button.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import { usePerform } from "../../actions/hotkeys";
import { actions, openRun } from "../../actions/registry";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";

const stop = actions.find((a) => a.id === "run.stop");

/** What works now, and the way to stop it: in the bar, where no desktop can reach. */
export function RunStatus() {
  const session = useSession();
  const perform = usePerform();
  const run = useStore(openRun);
  const more = useStore((s) => s.runs.filter((r) => isOpen(r.state)).length - 1);
  return (
    <section className="header-run" aria-label="Runs at work">
      {run && (
        <>
          <a
            href={session.addressOf({ page: "run", run: run.id })}
            onClick={(e) => {
              e.preventDefault();
              session.go({ page: "run", run: run.id });
            }}
          >
            {run.state === "waiting" ? "Waits for you: " : "At work: "}
            {run.prompt.split("\n")[0]}
            {more > 0 && ` and ${more} more`}
          </a>
          {stop && (
            <Button look="danger" title="Ctrl+." onClick={() => unawaited(perform(stop))}>
              <OctagonX size={15} aria-hidden /> <span className="header-run-stop">Stop</span>
            </Button>
          )}
        </>
      )}
    </section>
  );
}
