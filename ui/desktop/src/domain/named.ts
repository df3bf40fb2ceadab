import { nameOf } from "./path";

/** A path that exists. */
interface There {
  path: string;
  kind: string;
}

/** What a person meant by a path. */
export type Named = { is: "there"; subject: string } | { is: "several"; paths: readonly string[] } | { is: "missing" };

const subjectOf = ({ path, kind }: There) => (kind === "dir" ? `${path}/` : path);

/**
 * Finds what is meant by a path that was typed, among all that have its last name:
 * that very path, else the only one that ends so, in whatever case.
 */
export function namedBy(typed: string, found: readonly There[]): Named {
  const path = trimmed(typed);
  const exact = found.find((f) => f.path === path);
  if (exact) return { is: "there", subject: subjectOf(exact) };
  const low = `/${path.toLowerCase()}`;
  const fits = found.filter((f) => `/${f.path.toLowerCase()}`.endsWith(low));
  const [only, ...more] = fits;
  if (!only) return { is: "missing" };
  return more.length === 0
    ? { is: "there", subject: subjectOf(only) }
    : { is: "several", paths: fits.map((f) => f.path) };
}

/** A path without what does not belong to it. */
const trimmed = (typed: string) => typed.trim().replace(/^(\.?\/)+|\/+$/g, "");

/** The last name of a path that was typed. */
export const lastName = (typed: string) => nameOf(trimmed(typed));
