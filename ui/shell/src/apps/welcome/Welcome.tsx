import { useStore } from "../../state/store";
import { t } from "../../words/late";
import { ModelNotice } from "./ModelNotice";
import "./welcome.css";

/** The first thing one sees: what this is and how to begin. */
export function Welcome() {
  const connected = useStore((s) => s.computer?.models.connected);
  return (
    <div className="welcome scroll">
      <div className="welcome-inner">
        <h1>{t("runs.welcome")}</h1>
        <p className="welcome-lead">{t("runs.welcomeMore")}</p>
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
