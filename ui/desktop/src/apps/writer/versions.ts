/** Names the words for a version of a document of which `newest` is the last one: a count is said of several only. */
export function versionWords(newest: number): "noVersion" | "firstVersion" | "version" {
  if (newest === 0) return "noVersion";
  return newest === 1 ? "firstVersion" : "version";
}
