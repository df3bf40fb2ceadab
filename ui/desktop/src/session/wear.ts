import { notifyProblem } from "#base/kit/notify.ts";
import { changeTo, type Theme } from "../domain/theme";
import { useStore } from "../state/store";
import { desk } from "../transport/desk";

/** Puts a theme into force, here at once, then everywhere. */
export function wear(theme: Theme): void {
  const { theme: before, setTheme } = useStore.getState();
  const change = changeTo(theme);
  setTheme(change);
  desk.setTheme(change).catch((error) => {
    setTheme(before);
    notifyProblem(error);
  });
}
