import { appIdOf } from "../domain/appid";
import { manifest as code } from "./code/manifest";
import { manifest as files } from "./files/manifest";
import type { Manifest } from "./manifest";
import { manifest as preview } from "./preview/manifest";
import { manifest as settings } from "./settings/manifest";
import { manifest as terminal } from "./terminal/manifest";
import { manifest as timeline } from "./timeline/manifest";
import { manifest as trace } from "./trace/manifest";
import { manifest as viewer } from "./viewer/manifest";
import { manifest as writer } from "./writer/manifest";

/** All apps, in the order of the dock. Their code is loaded when they are opened. */
export const apps: readonly Manifest[] = [writer, files, code, terminal, trace, timeline, preview, settings, viewer];

/** The app of an id, also of one it had before. */
export function appOf(id: string): Manifest | undefined {
  const now = appIdOf(id);
  return apps.find((a) => a.id === now);
}

/** The apps that open a subject, the best first. */
export function openersOf(subject: string): Manifest[] {
  const rated = apps.map((app) => ({ app, how: app.opens?.(subject) ?? 0 })).filter(({ how }) => how > 0);
  return rated.sort((a, b) => b.how - a.how).map(({ app }) => app);
}
