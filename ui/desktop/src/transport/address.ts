import type { ID } from "#base/domain/contracts.ts";

/** What stands before the computer where it is shown as it was. */
const pastMark = "past--";

const nameOf = (host: string) => host.split(":")[0]?.split(".")[0] ?? "";

/** The computer whose page this is: the first part of its own name. */
export function computerOf(host: string): ID {
  const name = nameOf(host);
  return name.startsWith(pastMark) ? name.slice(pastMark.length) : name;
}

/** Whether a page shows its computer as it was, and can change nothing. */
export function isPast(host: string): boolean {
  return nameOf(host).startsWith(pastMark);
}

/** The computer this page shows. */
export const computer: ID = computerOf(globalThis.location?.host ?? "");

/** This page shows the computer as it was. */
export const past = isPast(globalThis.location?.host ?? "");

/** Where its API lies. */
export const base = `/api/computers/${computer}`;

/** A path of the workspace as part of an address. */
export function inAddress(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}
