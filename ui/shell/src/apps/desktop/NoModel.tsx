import { Play } from "lucide-react";
import { useState } from "react";
import { Button } from "#base/kit/Button.tsx";
import { usePerform } from "../../actions/hotkeys";
import { actions } from "../../actions/registry";
import { useSession } from "../../app/session";
import { useStore } from "../../state/store";
import { HideNote } from "./HideNote";

/** Says above the desktop that no model is connected, and offers the recorded demo. */
export function NoModel() {
  const session = useSession();
  const perform = usePerform();
  const models = useStore((s) => s.computer?.models);
  const [away, setAway] = useState(false);
  const [starting, setStarting] = useState(false);
  const demo = actions.find((a) => a.id === "demo.play");
  if (!models || models.connected || away) return null;
  return (
    <section className="desktop-note" aria-label="No model is connected">
      <p>{models.message}</p>
      {demo && (
        <Button
          look="primary"
          disabled={starting}
          onClick={() => {
            setStarting(true);
            void perform(demo).finally(() => setStarting(false));
          }}
        >
          <Play size={15} aria-hidden /> {starting ? "Starting…" : demo.title}
        </Button>
      )}
      <Button onClick={() => session.go({ page: "settings", section: "models" })}>How to connect a model</Button>
      <HideNote onHide={() => setAway(true)} />
    </section>
  );
}
