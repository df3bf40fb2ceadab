/** What the dock needs to know of an app. */
interface Docked {
  id: string;
  /** Has no place in the dock of its own: it only opens things. */
  hidden?: boolean;
}

/**
 * Says what the dock shows: the apps that have a place in it, then whatever else has a
 * window, so that no window can be lost by being minimised. `app` is missing for an app
 * that is not there any more.
 */
export function dockOf<A extends Docked>(apps: readonly A[], open: readonly string[]): { id: string; app?: A }[] {
  const placed = apps.filter((app) => !app.hidden || open.includes(app.id)).map((app) => ({ id: app.id, app }));
  const gone = [...new Set(open)].filter((id) => !apps.some((app) => app.id === id)).map((id) => ({ id }));
  return [...placed, ...gone];
}
