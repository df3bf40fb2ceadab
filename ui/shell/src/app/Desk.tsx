import { lazy, Suspense, useEffect } from "react";
import { useHotkeys } from "../actions/hotkeys";
import { DesktopFrame } from "../apps/desktop/DesktopFrame";
import { LinkAsked, useLinks } from "../apps/desktop/LinkAsked";
import { NoModel } from "../apps/desktop/NoModel";
import { Outdated } from "../apps/desktop/Outdated";
import { Silent } from "../apps/desktop/Silent";
import { Header } from "../apps/header/Header";
import { readRoute } from "../domain/route";
import { visible } from "../domain/visible";
import { useStore } from "../state/store";
import { useSession } from "./session";
import "./desk.css";

// Whoever works in the desktop needs none of these.
const Plain = lazy(() => import("./Plain"));
const Recover = lazy(() => import("../apps/recover/Recover"));
const Settings = lazy(() => import("../apps/settings/Settings"));
const Launcher = lazy(() => import("../apps/launcher/Launcher"));

/** The page of one open computer: the bar, and the desktop or a page of the shell. */
export function Desk() {
  useHotkeys();
  useHistory();
  useTitle();
  useLinks();
  const route = useStore((s) => s.route);
  const panel = useStore((s) => s.panel);
  const launcher = useStore((s) => s.launcher);
  const readOnly = useStore((s) => s.computer?.read_only);
  return (
    <div className="desk" data-panel={panel} data-page={route.page}>
      <Header />
      {readOnly && (
        <p role="alert" className="desk-alert">
          The log takes no more events: {readOnly}
        </p>
      )}
      <LinkAsked />
      {route.page === "desktop" && <Silent />}
      {route.page === "desktop" && <NoModel />}
      {route.page === "desktop" && <Outdated />}
      {route.page === "desktop" && <DesktopFrame />}
      {route.page === "recover" && (
        <main className="desk-main desk-page">
          <Suspense fallback={<Opening />}>
            <Recover />
          </Suspense>
        </main>
      )}
      {route.page === "settings" && (
        <main className="desk-main desk-page">
          <Suspense fallback={<Opening />}>
            <Settings section={route.section} />
          </Suspense>
        </main>
      )}
      {(route.page === "home" || route.page === "run" || route.page === "time") && (
        <Suspense fallback={<Opening />}>
          <Plain page={route.page} />
        </Suspense>
      )}
      {launcher && (
        <Suspense>
          <Launcher />
        </Suspense>
      )}
    </div>
  );
}

function Opening() {
  return <p className="run-reading">Opening…</p>;
}

/** Back and forward of the browser. */
function useHistory(): void {
  const session = useSession();
  useEffect(() => {
    const moved = () => session.go(readRoute(location.pathname));
    addEventListener("popstate", moved);
    return () => removeEventListener("popstate", moved);
  }, [session]);
}

function useTitle(): void {
  const route = useStore((s) => s.route);
  const prompt = useStore((s) => (route.page === "run" ? s.runs.find((r) => r.id === route.run)?.prompt : undefined));
  const name = useStore((s) => s.computer?.name);
  useEffect(() => {
    document.title = visible([prompt?.slice(0, 60), name, "ChoirOS"].filter(Boolean).join(" · "));
  }, [prompt, name]);
}
