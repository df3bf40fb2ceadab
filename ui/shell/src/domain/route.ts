import type { ID } from "#base/domain/contracts.ts";

/** A page of the settings that are out of the desktop's reach. */
export type SettingsPage = "models" | "secrets" | "limits";

/** What the address shows. */
export type Route =
  | { page: "desktop" }
  | { page: "home" }
  | { page: "recover" }
  | { page: "settings"; section: SettingsPage }
  | { page: "run"; run: ID }
  | { page: "time"; seq?: number }
  | { page: "login" };

/** Reads a path; anything unknown is the desktop. */
export function readRoute(path: string): Route {
  if (path === "/login") return { page: "login" };
  if (path === "/plain") return { page: "home" };
  if (path === "/recover") return { page: "recover" };
  const settings = /^\/settings(?:\/(models|secrets|limits))?$/.exec(path);
  if (settings) return { page: "settings", section: (settings[1] ?? "models") as SettingsPage };
  const time = /^\/time(?:\/([1-9]\d{0,15}))?$/.exec(path);
  if (time) return time[1] ? { page: "time", seq: Number(time[1]) } : { page: "time" };
  const run = /^\/runs\/([0-9a-f-]{36})$/.exec(path)?.[1];
  return run ? { page: "run", run } : { page: "desktop" };
}

/** The path of a route. */
export function pathOf(route: Route): string {
  switch (route.page) {
    case "run":
      return `/runs/${route.run}`;
    case "time":
      return route.seq === undefined ? "/time" : `/time/${route.seq}`;
    case "login":
      return "/login";
    case "home":
      return "/plain";
    case "settings":
      return `/settings/${route.section}`;
    case "recover":
      return "/recover";
    default:
      return "/";
  }
}

/** The computer an address is about; the first one when it names none. */
export function readComputer(search: string): ID | undefined {
  return new URLSearchParams(search).get("computer") ?? undefined;
}
