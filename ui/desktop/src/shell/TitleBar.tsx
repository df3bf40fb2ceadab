import { ChevronDown, Copy, type LucideIcon, Minus, Square, X } from "lucide-react";
import { type PointerEvent as ReactPointerEvent, useState } from "react";
import type { Win } from "../domain/windows";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { late } from "../kit/late";
import { useSession } from "../session/session";

const WindowMenu = late(() => import("./WindowMenu"));

interface Props {
  win: Win;
  title: string;
  icon: LucideIcon | undefined;
  focused: boolean;
  narrow: boolean;
  onGrab(e: ReactPointerEvent<HTMLElement>): void;
}

/** The upper edge of a window: menu, title, and what is done with it. */
export function TitleBar({ win, title, icon: Icon, focused, narrow, onGrab }: Props) {
  const { windows } = useSession();
  const t = useWords(deskWords);
  // The menu is loaded when it is first opened.
  const [menu, setMenu] = useState<"never" | "open" | "closed">("never");
  const toggle = () => (win.state === "normal" ? windows.maximise(win.id) : windows.restore(win.id));
  return (
    <header className="title-bar">
      <span className="title-menu">
        <button
          type="button"
          className="title-button title-menu-button"
          aria-label={t("windowMenu", { title })}
          aria-haspopup="menu"
          aria-expanded={menu === "open"}
          onClick={() => setMenu("open")}
        >
          {Icon && <Icon size={16} aria-hidden />}
          <ChevronDown size={12} aria-hidden />
        </button>
        {menu !== "never" && (
          <WindowMenu
            win={win}
            narrow={narrow}
            open={menu === "open"}
            onOpen={(open) => setMenu(open ? "open" : "closed")}
          />
        )}
      </span>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a bar to drag by; the menu and keys do the same */}
      <div
        className="title-grip"
        onPointerDown={narrow ? undefined : onGrab}
        onDoubleClick={narrow ? undefined : toggle}
        onContextMenu={(e) => {
          e.preventDefault();
          setMenu("open");
        }}
      >
        <h2 className="title-text" data-focused={focused}>
          {title}
        </h2>
      </div>
      <button
        type="button"
        className="title-button"
        aria-label={t("minimiseNamed", { title })}
        onClick={() => windows.minimise(win.id)}
      >
        <Minus size={16} aria-hidden />
      </button>
      {!narrow && (
        <button
          type="button"
          className="title-button"
          aria-label={t(win.state === "normal" ? "maximiseNamed" : "restoreNamed", { title })}
          onClick={toggle}
        >
          {win.state === "normal" ? <Square size={13} aria-hidden /> : <Copy size={13} aria-hidden />}
        </button>
      )}
      <button
        type="button"
        className="title-button title-close"
        aria-label={t("closeNamed", { title })}
        onClick={() => windows.close(win.id)}
      >
        <X size={16} aria-hidden />
      </button>
    </header>
  );
}
