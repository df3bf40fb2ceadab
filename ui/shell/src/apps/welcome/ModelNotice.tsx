import { Play, Sparkles } from "lucide-react";
import { useState } from "react";
import { Button } from "#base/kit/Button.tsx";
import { unawaited } from "#base/kit/unawaited.ts";
import { usePerform } from "../../actions/hotkeys";
import { type Action, actions } from "../../actions/registry";
import { unconnected } from "../../domain/settings";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
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
    <section className="notice" aria-label="No model is connected">
      <p className="notice-message">{unconnected(models)}</p>
      <div className="notice-row">
        <Button look="primary" onClick={() => session.go({ page: "models", section: "models" })}>
          <Sparkles size={15} aria-hidden /> Connect a model
        </Button>
        {demo && (
          <Button disabled={starting} onClick={() => unawaited(start(demo))}>
            <Play size={15} aria-hidden /> {starting ? "Starting…" : demo.title}
          </Button>
        )}
        <span className="notice-hint">In the demo only the model’s words are recorded. The rest really happens.</span>
      </div>
    </section>
  );
}
