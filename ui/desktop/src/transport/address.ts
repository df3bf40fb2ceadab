import type { ID } from "../domain/contracts";

/** The computer whose page this is: the first part of its own name. */
export function computerOf(host: string): ID {
  return host.split(":")[0]?.split(".")[0] ?? "";
}

/** The computer this page shows. */
export const computer: ID = computerOf(globalThis.location?.host ?? "");

/** Where its API lies. */
export const base = `/api/computers/${computer}`;

/** The shell that frames this page. */
export function shellOrigin(place: { protocol: string; port: string }): string {
  return `${place.protocol}//choir.localhost${place.port ? `:${place.port}` : ""}`;
}

/** A path of the workspace as part of an address. */
export function inAddress(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}
