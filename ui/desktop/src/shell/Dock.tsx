import { AppWindow, LayoutGrid, type LucideIcon } from "lucide-react";
import {
  type CSSProperties,
  type DOMAttributes,
  type FocusEvent,
  type KeyboardEvent,
  type PointerEvent,
  useState,
} from "react";
import { unawaited } from "#base/kit/unawaited.ts";
import { apps } from "../apps/registry";
import { dockOf } from "../domain/dock";
import { focusedOf } from "../domain/wmorder";
import { deskWords } from "../i18n/desk";
import { useNamed, useWords } from "../i18n/words";
import { useSession } from "../session/session";
import { useStore } from "../state/store";

/** The name of a button, above its middle. */
interface Tip {
  text: string;
  at: number;
}

/** One button for each app: opens it, brings it up, or puts it away. */
export function Dock() {
  const t = useWords(deskWords);
  const named = useNamed();
  const setPanel = useStore((s) => s.setPanel);
  const open = useStore((s) => s.windows.map((w) => w.app).join());
  const [tip, setTip] = useState<Tip>();
  const point = (button: HTMLElement, text: string) => {
    const room = button.closest(".dock-room")?.getBoundingClientRect().left ?? 0;
    const { left, width } = button.getBoundingClientRect();
    setTip({ text, at: left + width / 2 - room });
  };
  const tooltipProps = (text: string) => ({
    onPointerEnter: (e: PointerEvent<HTMLElement>) => e.pointerType !== "touch" && point(e.currentTarget, text),
    onPointerLeave: () => setTip(undefined),
    onFocus: (e: FocusEvent<HTMLElement>) => e.currentTarget.matches(":focus-visible") && point(e.currentTarget, text),
    onBlur: () => setTip(undefined),
    onKeyDown: (e: KeyboardEvent) => e.key === "Escape" && setTip(undefined),
  });
  return (
    <div className="dock-room">
      <nav className="dock" aria-label={t("dock")} onScroll={() => setTip(undefined)}>
        <button
          type="button"
          className="dock-button"
          aria-label={t("launcher")}
          onClick={() => setPanel("launcher")}
          {...tooltipProps(t("launcher"))}
        >
          <LayoutGrid size={20} aria-hidden />
        </button>
        {dockOf(apps, open ? open.split(",") : []).map(({ id, app }) => {
          const title = app ? named(app.title) : id;
          return (
            <DockButton key={id} app={id} icon={app?.icon ?? AppWindow} title={title} tooltip={tooltipProps(title)} />
          );
        })}
      </nav>
      {tip && (
        <span className="dock-tip" style={{ "--at": `${tip.at}px` } as CSSProperties} aria-hidden>
          {tip.text}
        </span>
      )}
    </div>
  );
}

interface ButtonProps {
  app: string;
  icon: LucideIcon;
  title: string;
  tooltip: DOMAttributes<HTMLElement>;
}

function DockButton({ app, icon: Icon, title, tooltip }: ButtonProps) {
  const { windows } = useSession();
  const t = useWords(deskWords);
  const count = useStore((s) => s.windows.filter((w) => w.app === app).length);
  const active = useStore((s) => focusedOf(s.windows, s.desktop)?.app === app);
  const press = () => {
    const mine = windows.of(app);
    const top = mine.at(-1);
    if (!top) return unawaited(windows.open(app));
    if (!active) return windows.focus(top.id);
    // Its own windows in turn; a single one is put away.
    const next = mine[0];
    if (next && mine.length > 1) windows.focus(next.id);
    else windows.minimise(top.id);
  };
  return (
    <button
      type="button"
      className="dock-button"
      data-open={count > 0}
      data-active={active}
      aria-label={count > 0 ? t("appWindows", { app: title, n: count }) : t("openApp", { app: title })}
      onClick={press}
      onAuxClick={(e) => e.button === 1 && unawaited(windows.open(app))}
      {...tooltip}
    >
      <Icon size={20} aria-hidden />
    </button>
  );
}
