import { useStore } from "../../state/store";
import { ModelNotice } from "./ModelNotice";
import "./welcome.css";

/** The first thing one sees: what this is and how to begin. */
export function Welcome() {
  const connected = useStore((s) => s.computer?.models.connected);
  return (
    <div className="welcome scroll">
      <div className="welcome-inner">
        <h1>What shall be done?</h1>
        <p className="welcome-lead">
          A Director plans it, an Associate does it in a sandbox and checks the result, and a document tells the story
          while it happens. Every step can be rewound.
        </p>
        {connected === false && <ModelNotice />}
        {connected && <Connected />}
      </div>
    </div>
  );
}

function Connected() {
  const models = useStore((s) => s.computer?.models);
  return <p className="welcome-models">{models?.message}</p>;
}
