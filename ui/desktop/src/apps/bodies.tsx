import { type Late, late } from "../kit/late";
import { Loading } from "../kit/States";
import type { Apps } from "../session/apps";
import { appOf, apps, openersOf } from "./registry";

const bodies = new Map(apps.map((app) => [app.id, late<object>(app.load, () => <Loading />)]));

/** What an app shows in its windows; its code comes when the first is opened. */
export function bodyOf(app: string): Late<object> | undefined {
  return bodies.get(app);
}

/** All apps, as the session asks for them. */
export const catalogue: Apps = {
  of: appOf,
  openers: openersOf,
  preload: (id) => {
    bodyOf(id)
      ?.load()
      .catch(() => undefined);
  },
};
