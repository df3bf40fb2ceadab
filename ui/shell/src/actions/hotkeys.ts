import { useEffect } from "react";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { useSession } from "../session/session";
import { useStore } from "../state/store";
import { type Action, actionFor } from "./registry";

/** Performs actions and says what went wrong. */
export function usePerform(): (action: Action) => Promise<void> {
  const session = useSession();
  return (action) => {
    const done = async () => action.run(session, useStore.getState());
    return done().catch(notifyProblem);
  };
}

/** Listens for the keys of all actions, and for the launcher's. */
export function useHotkeys(): void {
  const perform = usePerform();
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      const state = useStore.getState();
      if ((e.ctrlKey || e.metaKey) && !e.shiftKey && !e.altKey && e.key.toLowerCase() === "k") {
        e.preventDefault();
        state.setLauncher(!state.launcher);
        return;
      }
      const action = actionFor(e, state);
      if (!action) return;
      e.preventDefault();
      unawaited(perform(action));
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  });
}
