import { Dock } from "./Dock";
import { Progress } from "./Progress";
import { PromptBar } from "./PromptBar";
import { Switcher } from "./Switcher";
import { Tray } from "./Tray";
import { useNarrow } from "./useNarrow";
import "./bar.css";

/** The lower edge, always there: apps, the prompt, and how things are. */
export function Bar() {
  const narrow = useNarrow();
  return (
    <footer className="bar">
      {narrow ? <Switcher /> : <Dock />}
      <div className="bar-prompt">
        <Progress />
        <PromptBar />
      </div>
      {!narrow && <Tray />}
    </footer>
  );
}
