import { useEffect, useRef } from "react";
import { notifyProblem } from "#base/kit/notify.ts";
import { usePerform } from "../../actions/hotkeys";
import { actions } from "../../actions/registry";
import { useSession } from "../../app/session";
import { SKIP } from "../../kit/Skip";
import { useStore } from "../../state/store";
import { takeOpening } from "../../transport/arrival";
import { DesktopLink } from "./link";
import { ReadyWatch } from "./ready";
import "./desktop.css";

// Never allow-top-navigation: the desktop could put its own page in the shell's place.
// Nor allow-popups: with it one click anywhere carried data out in an address. Links
// come as messages, and the owner sees where they lead (LinkAsked).
const SANDBOX = "allow-scripts allow-same-origin allow-forms allow-downloads allow-modals";
const ALLOW = "clipboard-write; fullscreen";

/**
 * The desktop, which nobody vouches for. It must not be in the page while a page
 * of the shell is shown: a framed page that calls window.focus() in a timer gets
 * every key that is typed, even from a frame with display: none (tried).
 */
export function DesktopFrame() {
  const frame = useRef<HTMLIFrameElement>(null);
  const name = useStore((s) => s.computer?.name);
  useDesktop(frame);
  return <iframe ref={frame} className="desktop-frame" title={`Desktop of ${name}`} sandbox={SANDBOX} allow={ALLOW} />;
}

/** Opens the desktop with a ticket, again whenever it is asked to, and listens to it. */
function useDesktop(frame: React.RefObject<HTMLIFrameElement | null>): void {
  const session = useSession();
  const perform = usePerform();
  const openings = useStore((s) => s.openings);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each opening needs a ticket of its own
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const store = useStore.getState();
    const ended = new AbortController();
    const stop = actions.find((a) => a.id === "run.stop");
    store.setFrame("opening");
    takeOpening(session.computer).then(
      ({ url, source }) => {
        if (ended.signal.aborted) return;
        session.source.opening(source);
        const watch = new ReadyWatch(() => {
          store.setFrame("silent");
          session.source.touched();
        });
        const link = new DesktopLink(element, new URL(url).origin, {
          ready: () => {
            watch.ready();
            store.setFrame("ready");
            session.source.opened();
            const { draft } = useStore.getState();
            if (draft) link.say({ kind: "draft", text: draft });
            if (!keysElsewhere(element)) giveKeys(element, link);
          },
          typed: store.setDraft,
          left: () => document.getElementById(SKIP)?.focus(),
          stop: () => stop?.when(useStore.getState()) && void perform(stop),
          launcher: () => store.setLauncher(true),
          open: (route) => session.go(route),
          link: store.askLink,
        });
        element.addEventListener("load", () => watch.loaded(), { signal: ended.signal });
        const unsubscribe = useStore.subscribe((now, before) => {
          if (now.keysGiven !== before.keysGiven) giveKeys(element, link);
        });
        ended.signal.addEventListener("abort", () => {
          unsubscribe();
          link.end();
          watch.end();
          session.source.stop();
        });
        element.src = url;
      },
      (error) => {
        store.setFrame("silent");
        notifyProblem(error);
      },
    );
    return () => ended.abort();
  }, [openings, session]);
}

/** Whether a part of the shell has the keys. */
function keysElsewhere(frame: HTMLIFrameElement): boolean {
  const has = document.activeElement;
  return has !== null && has !== document.body && has !== frame;
}

/** What is typed goes to the desktop. */
function giveKeys(frame: HTMLIFrameElement, link: DesktopLink): void {
  frame.focus();
  link.say({ kind: "focus" });
}
