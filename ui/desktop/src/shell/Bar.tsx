import { late } from "../kit/late";
import { past } from "../transport/address";
import { Dock } from "./Dock";
import { PromptBar } from "./PromptBar";
import { Switcher } from "./Switcher";
import { Tray } from "./Tray";
import { useNarrow } from "./useNarrow";
import "./bar.css";

const Cards = late(() => import("./cards/Cards"));

/** The lower edge, always there: apps, the prompt, and how things are. */
export function Bar() {
  const narrow = useNarrow();
  return (
    <footer className="bar">
      {narrow ? <Switcher /> : <Dock />}
      <div className="bar-prompt">
        {!past && <Cards />}
        <PromptBar />
      </div>
      {!narrow && <Tray />}
    </footer>
  );
}
