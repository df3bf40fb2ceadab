// Where files of the desktop's source went that apps of people import.
import { existsSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

/** Folders of src whose files went to others; in earlier desktops the session and its hooks lay in app. */
const moved = { app: ["session", "kit"] };

/**
 * Finds what an app imports from src and is not there, where a newer desktop has
 * it: "../../kit/Button" is base/kit/Button unless src has a kit/Button, and
 * "../../app/useWindow" is src/session/useWindow. So an app of the user's goes on.
 */
export function movedFiles(root) {
  const there = (path) => ["", ".ts", ".tsx"].some((end) => existsSync(path + end));
  return {
    name: "choir-moved",
    enforce: "pre",
    resolveId(wanted, importer) {
      if (!importer || !wanted.startsWith(".")) return null;
      const path = resolve(dirname(importer), wanted);
      const below = relative(join(root, "src"), path);
      if (below.startsWith("..") || there(path)) return null;
      const [folder, ...rest] = below.split(sep);
      const places = [join(root, "base", below), ...(moved[folder] ?? []).map((to) => join(root, "src", to, ...rest))];
      const found = places.find(there);
      return found ? this.resolve(found, importer, { skipSelf: true }) : null;
    },
  };
}
