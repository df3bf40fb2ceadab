import { Search } from "lucide-react";
import { useSession } from "../../app/session";
import { useStore } from "../../state/store";
import { Computers } from "./Computers";
import { Connection } from "./Connection";
import { Isolation } from "./Isolation";
import "./header.css";

/** The top of the page: which computer, how safe, how well reached. */
export function Header() {
  const session = useSession();
  const setLauncher = useStore((s) => s.setLauncher);
  return (
    <header className="header">
      <a
        className="header-home"
        href={session.addressOf({ page: "home" })}
        aria-label="Beginning"
        onClick={(e) => {
          e.preventDefault();
          session.go({ page: "home" });
        }}
      >
        <img src="/icon.svg" alt="" width="24" height="24" />
      </a>
      <Computers />
      <button type="button" className="header-search" onClick={() => setLauncher(true)}>
        <Search size={15} aria-hidden />
        <span>Launcher</span>
        <kbd>Ctrl K</kbd>
      </button>
      <div className="header-facts">
        <Isolation />
        <Connection />
      </div>
    </header>
  );
}
