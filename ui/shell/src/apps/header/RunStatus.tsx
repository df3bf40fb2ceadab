import { OctagonX } from "lucide-react";
import { isOpen } from "#base/domain/views.ts";
import { Button } from "#base/kit/Button.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import { usePerform } from "../../actions/hotkeys";
import { actions, openRun } from "../../actions/registry";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/words";

const stop = actions.find((a) => a.id === "run.stop");

/** What works now, and the way to stop it: in the bar, where no desktop can reach. */
export function RunStatus() {
  const session = useSession();
  const perform = usePerform();
  const run = useStore(openRun);
  const more = useStore((s) => s.runs.filter((r) => isOpen(r.state)).length - 1);
  return (
    <section className="header-run" aria-label={t("bar.atWork")}>
      {run && (
        <>
          <a
            href={session.addressOf({ page: "run", run: run.id })}
            onClick={(e) => {
              e.preventDefault();
              session.go({ page: "run", run: run.id });
            }}
          >
            {t(run.state === "waiting" ? "bar.waitsForYou" : "bar.atWorkOn", {
              prompt: run.prompt.split("\n")[0] ?? "",
            })}
            {more > 0 && t("bar.andMore", { n: more })}
          </a>
          {stop && (
            <Button look="danger" title={t("bar.ctrlDot")} onClick={() => unawaited(perform(stop))}>
              <OctagonX size={15} aria-hidden /> <span className="header-run-stop">{t("bar.stop")}</span>
            </Button>
          )}
        </>
      )}
    </section>
  );
}
