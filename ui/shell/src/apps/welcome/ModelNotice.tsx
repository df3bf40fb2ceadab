import { Play } from "lucide-react";
import { useState } from "react";
import { Button } from "#base/kit/Button.tsx";
import { usePerform } from "../../actions/hotkeys";
import { type Action, actions } from "../../actions/registry";
import { useStore } from "../../state/store";
import "./welcome.css";

const example = `[models]
director = "anthropic/claude-sonnet-4-5"
associate = "anthropic/claude-sonnet-4-5"

[[models.provider]]
name = "anthropic"
kind = "anthropic"
key_env = "ANTHROPIC_API_KEY"`;

/** Says that no model is connected, how to connect one, and offers the recorded demo. */
export function ModelNotice() {
  const perform = usePerform();
  const message = useStore((s) => s.computer?.models.message);
  const demo = actions.find((a) => a.id === "demo.play");
  const [starting, setStarting] = useState(false);
  const start = async (action: Action) => {
    setStarting(true);
    await perform(action);
    setStarting(false);
  };
  return (
    <section className="notice" aria-label="No model is connected">
      <p className="notice-message">{message}</p>
      <div className="notice-row">
        {demo && (
          <Button look="primary" disabled={starting} onClick={() => void start(demo)}>
            <Play size={15} aria-hidden /> {starting ? "Starting…" : demo.title}
          </Button>
        )}
        <span className="notice-hint">Only the model’s words are recorded. The rest really happens.</span>
      </div>
      <details className="notice-how">
        <summary>How to connect a model</summary>
        <p>
          Add this to <code>choir.toml</code> in the data folder, put the key into that variable, and start{" "}
          <code>choir up</code> again. <code>kind</code> may also be <code>openai</code>, for any compatible endpoint,
          or <code>bedrock</code>.
        </p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
        <pre tabIndex={0}>{example}</pre>
      </details>
    </section>
  );
}
