import type { ID } from "./contracts";

/** What the address shows. */
export type Route = { page: "home" } | { page: "run"; run: ID } | { page: "time"; seq?: number } | { page: "login" };

/** Reads a path; anything unknown is the home page. */
export function readRoute(path: string): Route {
  if (path === "/login") return { page: "login" };
  const time = /^\/time(?:\/([1-9]\d{0,15}))?$/.exec(path);
  if (time) return time[1] ? { page: "time", seq: Number(time[1]) } : { page: "time" };
  const run = /^\/runs\/([0-9a-f-]{36})$/.exec(path)?.[1];
  return run ? { page: "run", run } : { page: "home" };
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
    default:
      return "/";
  }
}

/** The computer an address is about; the first one when it names none. */
export function readComputer(search: string): ID | undefined {
  return new URLSearchParams(search).get("computer") ?? undefined;
}
