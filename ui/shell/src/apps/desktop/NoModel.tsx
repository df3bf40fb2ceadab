import { Play, Sparkles } from "lucide-react";
import { useState } from "react";
import { isOpen } from "#base/domain/views.ts";
import { Button } from "#base/kit/Button.tsx";
import { usePerform } from "../../actions/hotkeys";
import { actions } from "../../actions/registry";
import { useSession } from "../../app/session";
import { unconnected } from "../../domain/settings";
import { useStore } from "../../state/store";
import { HideNote } from "./HideNote";

/** Says above the desktop that no model is connected, and offers the recorded demo. */
export function NoModel() {
  const session = useSession();
  const perform = usePerform();
  const models = useStore((s) => s.computer?.models);
  const [away, setAway] = useState(false);
  const [starting, setStarting] = useState(false);
  const playing = useStore((s) => s.runs.some((r) => r.paced && isOpen(r.state)));
  const demo = actions.find((a) => a.id === "demo.play");
  if (!models || models.connected || away) return null;
  return (
    <section className="desktop-note" aria-label="No model is connected">
      <p>{unconnected(models)}</p>
      <Button look="primary" onClick={() => session.go({ page: "models", section: "models" })}>
        <Sparkles size={15} aria-hidden /> Connect a model
      </Button>
      {demo && (
        <Button
          disabled={starting || playing}
          onClick={() => {
            setStarting(true);
            void perform(demo).finally(() => setStarting(false));
          }}
        >
          <Play size={15} aria-hidden /> {starting ? "Starting…" : "Show me a demo"}
        </Button>
      )}
      <HideNote onHide={() => setAway(true)} />
    </section>
  );
}
