import { useEffect, useRef } from "react";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { usePerform } from "../../actions/hotkeys";
import { actions } from "../../actions/registry";
import { takeFrame } from "../../frame/early";
import { Frame } from "../../frame/frame";
import { DesktopLink } from "../../frame/link";
import { ReadyWatch } from "../../frame/ready";
import { SKIP } from "../../kit/Skip";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { askOpening, type Opening } from "../../transport/opening";
import { shelf } from "../../transport/shelf";
import { t } from "../../words/words";
import "./desktop.css";

/**
 * The desktop, which nobody vouches for. It must not be in the page while a page
 * of the shell is shown: a framed page that calls window.focus() in a timer gets
 * every key that is typed, even from a frame with display: none (tried).
 */
export function DesktopFrame() {
  const session = useSession();
  const frame = useRef<{ frame: Frame; begun: Opening | undefined }>(undefined);
  const name = useStore((s) => s.computer?.name);
  useEffect(() => {
    const taken = takeFrame(session.computer) ?? { frame: new Frame(), begun: undefined };
    frame.current = taken;
    return () => taken.frame.remove();
  }, [session]);
  useEffect(() => {
    if (frame.current) frame.current.frame.element.title = t("desktop.of", { name: name ?? "" });
  }, [name]);
  useDesktop(frame);
  return null;
}

/** Opens the desktop with a ticket, again whenever it is asked to, and listens to it. */
function useDesktop(of: React.RefObject<{ frame: Frame; begun: Opening | undefined } | undefined>): void {
  const session = useSession();
  const perform = usePerform();
  const openings = useStore((s) => s.openings);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each opening needs a ticket of its own
  useEffect(() => {
    const taken = of.current;
    if (!taken) return;
    const { frame, begun } = taken;
    const { element } = frame;
    const store = useStore.getState();
    const ended = new AbortController();
    const stop = actions.find((a) => a.id === "run.stop");
    store.setFrame("opening");
    taken.begun = undefined;
    const opening = begun ? Promise.resolve(begun) : askOpening(session.computer);
    opening.then(
      ({ url, source }) => {
        if (ended.signal.aborted) return;
        session.source.opening(source);
        const watch = new ReadyWatch(() => {
          store.setFrame("silent");
          session.source.touched();
        });
        let hasLauncher = false;
        const link = new DesktopLink(element, new URL(url).origin, {
          ready: (itsOwn) => {
            hasLauncher = itsOwn;
            watch.ready();
            store.setFrame("ready");
            session.source.opened();
            link.say({ kind: "held", texts: shelf.of(session.computer) });
            const { draft } = useStore.getState();
            if (draft) link.say({ kind: "draft", text: draft });
            if (!keysElsewhere(element)) giveKeys(element, link);
          },
          typed: store.setDraft,
          hold: (name, text) => shelf.hold(session.computer, name, text),
          left: () => document.getElementById(SKIP)?.focus(),
          stop: () => stop?.when(useStore.getState()) && unawaited(perform(stop)),
          launcher: () => store.setLauncher(true),
          open: (route) => session.go(route),
          link: store.askLink,
        });
        const unfollow = frame.follow((e) => (e instanceof MessageEvent ? link.hear(e) : watch.loaded()));
        const unsubscribe = useStore.subscribe((now, before) => {
          if (now.keysGiven !== before.keysGiven) giveKeys(element, link);
          // One launcher: that of the desktop knows its apps, files and windows, and what the shell does.
          if (now.launcher && !before.launcher && hasLauncher && now.frame === "ready") {
            now.setLauncher(false);
            element.focus();
            link.say({ kind: "launcher" });
          }
        });
        ended.signal.addEventListener("abort", () => {
          unsubscribe();
          unfollow();
          watch.end();
          session.source.stop();
        });
        if (!begun) element.src = url;
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
