import { useEffect, useRef, useState } from "react";
import { usePerform } from "../../actions/hotkeys";
import { actions } from "../../actions/registry";
import { useSession } from "../../app/session";
import { notifyProblem } from "../../kit/notify";
import { useStore } from "../../state/store";
import { DesktopLink, READY_MS } from "./link";
import "./desktop.css";

// Never allow-top-navigation: the desktop could put its own page in the shell's place.
const SANDBOX = "allow-scripts allow-same-origin allow-forms allow-downloads allow-modals allow-popups";
const ALLOW = "clipboard-read; clipboard-write; fullscreen";

/**
 * The desktop, which nobody vouches for. While it is not shown it is not
 * rendered at all: a framed page that takes the focus gets every key otherwise.
 */
export function DesktopFrame({ shown }: { shown: boolean }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const name = useStore((s) => s.computer?.name);
  const [wanted, setWanted] = useState(shown);
  if (shown && !wanted) setWanted(true);
  const link = useLink(frame, wanted);
  useEffect(() => {
    if (shown) giveFocus(frame.current, link.current);
  }, [shown, link]);
  if (!wanted) return null;
  return (
    <iframe
      ref={frame}
      className="desktop-frame"
      style={shown ? undefined : { display: "none" }}
      title={`Desktop of ${name}`}
      sandbox={SANDBOX}
      allow={ALLOW}
    />
  );
}

/** Opens the desktop with a ticket, again whenever it is asked to, and listens to it. */
function useLink(frame: React.RefObject<HTMLIFrameElement | null>, wanted: boolean) {
  const session = useSession();
  const perform = usePerform();
  const openings = useStore((s) => s.openings);
  const link = useRef<DesktopLink>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each opening needs a ticket of its own
  useEffect(() => {
    const element = frame.current;
    if (!wanted || !element) return;
    const store = useStore.getState();
    const given = new AbortController();
    const stop = actions.find((a) => a.id === "run.stop");
    const heard = {
      ready: () => {
        store.setFrame("ready");
        session.source.opened();
        if (useStore.getState().route.page === "desktop") giveFocus(element, link.current);
      },
      stop: () => stop?.when(useStore.getState()) && void perform(stop),
      launcher: () => store.setLauncher(true),
      open: session.go.bind(session),
    };
    session.api.ticket().then(
      ({ url }) => {
        if (given.signal.aborted) return;
        link.current = new DesktopLink(element, new URL(url).origin, link.current?.typed() ?? "", heard);
        watch(element, link.current, given.signal);
        element.src = url;
      },
      (error) => {
        store.setFrame("silent");
        notifyProblem(error);
      },
    );
    return () => {
      given.abort();
      link.current?.end();
    };
  }, [wanted, openings, session]);
  return link;
}

/** Says so when a page does not get ready in time: the first, and each that comes after it. */
function watch(frame: HTMLIFrameElement, link: DesktopLink, signal: AbortSignal): void {
  const expect = (since: number) => {
    const late = () => link.readyAt < since && useStore.getState().setFrame("silent");
    const timer = setTimeout(late, READY_MS);
    signal.addEventListener("abort", () => clearTimeout(timer));
  };
  expect(performance.now());
  // A page is ready before or after it is loaded.
  frame.addEventListener("load", () => expect(performance.now() - READY_MS), { signal });
}

/** The desktop gets the keys, unless a part of the shell has them. */
function giveFocus(frame: HTMLIFrameElement | null, link: DesktopLink | undefined): void {
  const has = document.activeElement;
  if (!frame || (has && has !== document.body && has !== frame)) return;
  frame.focus();
  link?.say({ kind: "focus" });
}
