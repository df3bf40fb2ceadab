import { Search } from "lucide-react";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/words";
import { Computers } from "./Computers";
import { Connection } from "./Connection";
import { Isolation } from "./Isolation";
import { Pages } from "./Pages";
import { RunStatus } from "./RunStatus";
import { Who } from "./Who";
import "./header.css";

/** The bar that is always there: which computer, what works in it, how safe, how well reached. */
export function Header() {
  const session = useSession();
  const setLauncher = useStore((s) => s.setLauncher);
  return (
    <header className="header">
      <a
        className="header-home"
        href={session.addressOf({ page: "desktop" })}
        aria-label={t("bar.desktop")}
        onClick={(e) => {
          e.preventDefault();
          session.go({ page: "desktop" });
        }}
      >
        <img src="/icon.svg" alt="" width="24" height="24" />
      </a>
      <Computers />
      <RunStatus />
      <button type="button" className="header-search" onClick={() => setLauncher(true)}>
        <Search size={15} aria-hidden />
        <span>{t("bar.launcher")}</span>
        <kbd>{t("bar.ctrlK")}</kbd>
      </button>
      <Pages />
      <div className="header-facts">
        <Who />
        <Isolation />
        <Connection />
      </div>
    </header>
  );
}
