import { lazy, Suspense, useEffect } from "react";
import { LiveRegion } from "#base/kit/LiveRegion.tsx";
import { withdrawOffers } from "#base/kit/notify.ts";
import { useHotkeys } from "../actions/hotkeys";
import { DesktopFrame } from "../apps/desktop/DesktopFrame";
import { LinkAsked, useLinks } from "../apps/desktop/LinkAsked";
import { NoModel } from "../apps/desktop/NoModel";
import { Outdated } from "../apps/desktop/Outdated";
import { Silent } from "../apps/desktop/Silent";
import { Header } from "../apps/header/Header";
import { titleOf } from "../apps/header/Pages";
import { pathOf, readRoute } from "../domain/route";
import { visible } from "../domain/visible";
import { Skip } from "../kit/Skip";
import { useSession } from "../session/session";
import { useStore } from "../state/store";
import { t } from "../words/words";
import "./desk.css";

// Whoever works in the desktop needs none of these.
const Runs = lazy(() => import("./Runs"));
const Recover = lazy(() => import("../apps/recover/Recover"));
const Settings = lazy(() => import("../apps/settings/Settings"));
const Launcher = lazy(() => import("../apps/launcher/Launcher"));

/** The page of one open computer: the bar, and the desktop or a page of the shell. */
export function Desk() {
  useHotkeys();
  useHistory();
  useTitle();
  useOffers();
  useLinks();
  const route = useStore((s) => s.route);
  const panel = useStore((s) => s.panel);
  const launcher = useStore((s) => s.launcher);
  const announced = useStore((s) => s.announced);
  const readOnly = useStore((s) => s.computer?.read_only);
  return (
    <div className="desk" data-panel={panel} data-page={route.page}>
      <Skip />
      <Header />
      {readOnly && (
        <p role="alert" className="desk-alert">
          {t("page.readOnly", { why: readOnly })}
        </p>
      )}
      {route.page === "desktop" && <NoModel />}
      {route.page === "desktop" && <Outdated />}
      {/* What comes and goes with the desktop is below what stays until it is pressed, and moves it under no pointer. */}
      <LinkAsked />
      {route.page === "desktop" && <Silent />}
      {route.page === "desktop" && <DesktopFrame />}
      {route.page === "recover" && (
        <main className="desk-main desk-page" tabIndex={-1}>
          <Suspense fallback={<Opening />}>
            <Recover />
          </Suspense>
        </main>
      )}
      {route.page === "models" && (
        <main className="desk-main desk-page" tabIndex={-1}>
          <Suspense fallback={<Opening />}>
            <Settings section={route.section} />
          </Suspense>
        </main>
      )}
      {(route.page === "runs" || route.page === "run" || route.page === "time") && (
        <Suspense fallback={<Opening />}>
          <Runs page={route.page} />
        </Suspense>
      )}
      <LiveRegion lines={announced} />
      {launcher && (
        <Suspense>
          <Launcher />
        </Suspense>
      )}
    </div>
  );
}

function Opening() {
  return <p className="run-reading">{t("page.opening")}</p>;
}

/** Back and forward of the browser. */
function useHistory(): void {
  const session = useSession();
  useEffect(() => {
    // An address of before gives way to that of now.
    const route = readRoute(location.pathname);
    if (pathOf(route) !== location.pathname) history.replaceState(null, "", session.addressOf(route));
    const moved = () => session.go(readRoute(location.pathname));
    addEventListener("popstate", moved);
    return () => removeEventListener("popstate", moved);
  }, [session]);
}

/** What a page offers is about that page. */
function useOffers(): void {
  useEffect(() => useStore.subscribe((now, before) => now.route.page !== before.route.page && withdrawOffers()), []);
}

function useTitle(): void {
  const route = useStore((s) => s.route);
  const prompt = useStore((s) => (route.page === "run" ? s.runs.find((r) => r.id === route.run)?.prompt : undefined));
  const name = useStore((s) => s.computer?.name);
  useEffect(() => {
    document.title = visible([prompt?.slice(0, 60) ?? titleOf(route), name, "ChoirOS"].filter(Boolean).join(" · "));
  }, [prompt, name, route]);
}
