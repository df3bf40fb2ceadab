/**
 * Names the words for a version of a document of which `newest` is the last one. A count is said of several only, and
 * version 0 has none: it is the document as it was begun.
 */
export function versionWords(version: number, newest: number): "noVersion" | "begun" | "firstVersion" | "version" {
  if (newest === 0) return "noVersion";
  if (version === 0) return "begun";
  return newest === 1 ? "firstVersion" : "version";
}
