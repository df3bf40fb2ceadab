import { useEffect, useMemo } from "react";
import { unawaited } from "#base/kit/unawaited.ts";
import { isChord, type Press } from "../domain/chord";
import { type Session, useSession } from "../session/session";
import { useStore } from "../state/store";
import { type Action, actions, type Here } from "./registry";

/** What stands around an action now. */
export function hereOf(session: Session): Here {
  return { session, state: useStore.getState(), win: session.windows.focused() };
}

/** Performs actions and says what went wrong. */
export function usePerform(): (action: Action) => void {
  const session = useSession();
  return useMemo(() => (action) => unawaited(Promise.resolve(action.run(hereOf(session)))), [session]);
}

/**
 * Listens for the keys of all actions. In a terminal Ctrl with one key is the
 * program's (Ctrl+K cuts a line): there Alt comes to it.
 */
export function useHotkeys(): void {
  const session = useSession();
  const perform = usePerform();
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      if (!e.ctrlKey && !e.metaKey) return;
      const pressed = {
        key: e.key,
        code: e.code,
        ctrlKey: e.ctrlKey,
        metaKey: e.metaKey,
        altKey: e.altKey,
        shiftKey: e.shiftKey,
        altGraph: e.getModifierState("AltGraph"),
      };
      const presses = forDesktop(pressed, e.target);
      const means = ({ keys }: Action) => keys !== undefined && presses.some((p) => isChord(p, keys));
      const action = actions.find((a) => means(a) && a.when(hereOf(session)));
      if (!action) return;
      e.preventDefault();
      e.stopPropagation();
      perform(action);
    };
    // Before the app that has the focus, which may take keys of its own.
    document.addEventListener("keydown", press, true);
    return () => document.removeEventListener("keydown", press, true);
  }, [session, perform]);
}

/** What a press may mean to the desktop. */
function forDesktop(press: Press, target: EventTarget | null): Press[] {
  const inTerminal = target instanceof Element && target.closest(".xterm") !== null;
  if (!inTerminal || press.metaKey || press.shiftKey) return [press];
  return press.altKey ? [press, { ...press, altKey: false }] : [];
}
