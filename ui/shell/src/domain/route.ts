import type { ID } from "./contracts";

/** What the address shows. */
export type Route = { page: "home" } | { page: "run"; run: ID } | { page: "login" };

/** Reads a path; anything unknown is the home page. */
export function readRoute(path: string): Route {
  if (path === "/login") return { page: "login" };
  const run = /^\/runs\/([0-9a-f-]{36})$/.exec(path)?.[1];
  return run ? { page: "run", run } : { page: "home" };
}

/** The path of a route. */
export function pathOf(route: Route): string {
  switch (route.page) {
    case "run":
      return `/runs/${route.run}`;
    case "login":
      return "/login";
    default:
      return "/";
  }
}
