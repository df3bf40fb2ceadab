import { Play, Sparkles } from "lucide-react";
import { useState } from "react";
import { Button } from "#base/kit/Button.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import { usePerform } from "../../actions/hotkeys";
import { type Action, actions } from "../../actions/registry";
import { unconnected } from "../../domain/unconnected";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/late";
import "./welcome.css";

/** Says that no model is connected, leads to where one is connected, and offers the recorded demo. */
export function ModelNotice() {
  const session = useSession();
  const perform = usePerform();
  const models = useStore((s) => s.computer?.models);
  const demo = actions.find((a) => a.id === "demo.play");
  const [starting, setStarting] = useState(false);
  const start = async (action: Action) => {
    setStarting(true);
    await perform(action);
    setStarting(false);
  };
  return (
    <section className="notice" aria-label={t("desktop.noModel")}>
      <p className="notice-message">{unconnected(models)}</p>
      <div className="notice-row">
        <Button look="primary" onClick={() => session.go({ page: "models", section: "models" })}>
          <Sparkles size={15} aria-hidden /> {t("runs.connectModel")}
        </Button>
        {demo && (
          <Button disabled={starting} onClick={() => unawaited(start(demo))}>
            <Play size={15} aria-hidden /> {starting ? t("runs.starting") : demo.title}
          </Button>
        )}
        <span className="notice-hint">{t("runs.demoMore")}</span>
      </div>
    </section>
  );
}
