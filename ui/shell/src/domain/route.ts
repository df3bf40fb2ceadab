import type { ID } from "#base/domain/contracts.ts";

/** A section of what the owner alone decides, out of the desktop's reach. */
export type Section = "models" | "keys" | "limits" | "hosts" | "approvals";

/** What the address shows. */
export type Route =
  | { page: "desktop" }
  | { page: "runs" }
  | { page: "recover" }
  | { page: "models"; section: Section }
  /** A run; with `undo` it is asked whether what it changed is to be undone. */
  | { page: "run"; run: ID; undo?: true }
  /** A moment; with `back` it is asked whether to go back there. */
  | { page: "time"; seq?: number; back?: true }
  | { page: "login" };

/** The addresses of the sections, and those they had before. */
const sections: Readonly<Record<string, Section>> = {
  "/models": "models",
  "/models/keys": "keys",
  "/models/limits": "limits",
  "/models/hosts": "hosts",
  "/models/approvals": "approvals",
  "/settings": "models",
  "/settings/models": "models",
  "/settings/secrets": "keys",
  "/settings/limits": "limits",
};

/** Reads a path, also one of before; anything unknown is the desktop. */
export function readRoute(path: string): Route {
  if (path === "/login") return { page: "login" };
  if (path === "/runs" || path === "/plain") return { page: "runs" };
  if (path === "/recover") return { page: "recover" };
  const section = sections[path];
  if (section) return { page: "models", section };
  const time = /^\/time(?:\/([1-9]\d{0,15})(\/back)?)?$/.exec(path);
  if (time?.[1]) return { page: "time", seq: Number(time[1]), ...(time[2] ? { back: true } : {}) };
  if (time) return { page: "time" };
  const [, run, undo] = /^\/runs\/([0-9a-f-]{36})(\/undo)?$/.exec(path) ?? [];
  if (!run) return { page: "desktop" };
  return undo ? { page: "run", run, undo: true } : { page: "run", run };
}

/** The path of a route. */
export function pathOf(route: Route): string {
  switch (route.page) {
    case "run":
      return `/runs/${route.run}${route.undo ? "/undo" : ""}`;
    case "time":
      return route.seq === undefined ? "/time" : `/time/${route.seq}${route.back ? "/back" : ""}`;
    case "models":
      return `/models${route.section === "models" ? "" : `/${route.section}`}`;
    case "desktop":
      return "/";
    default:
      return `/${route.page}`;
  }
}

/** The computer an address is about; the first one when it names none. */
export function readComputer(search: string): ID | undefined {
  return new URLSearchParams(search).get("computer") ?? undefined;
}
