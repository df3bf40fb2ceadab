import { Layers, LayoutGrid } from "lucide-react";
import { onDesktop } from "../domain/wmorder";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { useStore } from "../state/store";
import { Connection } from "./Tray";

/** On a narrow page: to the apps, and to the other windows. */
export function Switcher() {
  const t = useWords(deskWords);
  const setPanel = useStore((s) => s.setPanel);
  const count = useStore((s) => onDesktop(s.windows, s.desktop).length);
  return (
    <nav className="switcher" aria-label={t("dock")}>
      <button type="button" className="dock-button" aria-label={t("launcher")} onClick={() => setPanel("launcher")}>
        <LayoutGrid size={22} aria-hidden />
      </button>
      <button type="button" className="dock-button" onClick={() => setPanel("overview")}>
        <Layers size={22} aria-hidden />
        <span className="visually-hidden">{t("switcher")} </span>
        {count > 0 && <span className="switcher-count">{count}</span>}
      </button>
      <Connection />
    </nav>
  );
}
