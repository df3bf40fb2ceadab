import { LayoutGrid } from "lucide-react";
import { useSession } from "../app/session";
import type { Manifest } from "../apps/manifest";
import { apps } from "../apps/registry";
import { focusedOf } from "../domain/wmorder";
import { deskWords } from "../i18n/desk";
import { useNamed, useWords } from "../i18n/words";
import { useStore } from "../state/store";

/** One button for each app: opens it, brings it up, or puts it away. */
export function Dock() {
  const t = useWords(deskWords);
  const setPanel = useStore((s) => s.setPanel);
  return (
    <nav className="dock" aria-label={t("dock")}>
      <button
        type="button"
        className="dock-button"
        aria-label={t("launcher")}
        title={t("launcher")}
        onClick={() => setPanel("launcher")}
      >
        <LayoutGrid size={20} aria-hidden />
      </button>
      {apps
        .filter((a) => !a.hidden)
        .map((app) => (
          <DockButton key={app.id} app={app} />
        ))}
    </nav>
  );
}

function DockButton({ app }: { app: Manifest }) {
  const { windows } = useSession();
  const t = useWords(deskWords);
  const named = useNamed();
  const count = useStore((s) => s.windows.filter((w) => w.app === app.id).length);
  const active = useStore((s) => focusedOf(s.windows, s.desktop)?.app === app.id);
  const title = named(app.title);
  const press = () => {
    const mine = windows.of(app.id);
    const top = mine.at(-1);
    if (!top) return void windows.open(app.id);
    if (!active) return windows.focus(top.id);
    // Its own windows in turn; a single one is put away.
    const next = mine[0];
    if (next && mine.length > 1) windows.focus(next.id);
    else windows.minimise(top.id);
  };
  const Icon = app.icon;
  return (
    <button
      type="button"
      className="dock-button"
      data-open={count > 0}
      data-active={active}
      aria-label={count > 0 ? t("appWindows", { app: title, n: count }) : t("openApp", { app: title })}
      title={title}
      onClick={press}
      onAuxClick={(e) => e.button === 1 && void windows.open(app.id)}
    >
      <Icon size={20} aria-hidden />
    </button>
  );
}
