import { manifest as browser } from "./browser/manifest";
import { manifest as code } from "./code/manifest";
import { manifest as files } from "./files/manifest";
import type { Manifest } from "./manifest";
import { manifest as settings } from "./settings/manifest";
import { manifest as terminal } from "./terminal/manifest";
import { manifest as timeline } from "./timeline/manifest";
import { manifest as trace } from "./trace/manifest";
import { manifest as viewer } from "./viewer/manifest";
import { manifest as writer } from "./writer/manifest";

/** All apps, in the order of the dock. Their code is loaded when they are opened. */
export const apps: readonly Manifest[] = [writer, files, code, terminal, trace, timeline, browser, settings, viewer];

/** The app of a name. */
export function appOf(id: string): Manifest | undefined {
  return apps.find((a) => a.id === id);
}

/** The apps that open a subject, the best first. */
export function openersOf(subject: string): Manifest[] {
  const rated = apps.map((app) => ({ app, how: app.opens?.(subject) ?? 0 })).filter(({ how }) => how > 0);
  return rated.sort((a, b) => b.how - a.how).map(({ app }) => app);
}

/** The app that opens a subject best. */
export function bestFor(subject: string): Manifest | undefined {
  return openersOf(subject)[0];
}
