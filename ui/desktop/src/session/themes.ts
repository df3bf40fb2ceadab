import { useQuery } from "@tanstack/react-query";
import { inOrder, readTheme, shipped, type Theme } from "../domain/theme";
import { files } from "../transport/files";

/** Where themes lie in the workspace. */
const FOLDER = "choiros/themes";

/** Where a theme lies in the workspace. */
export function themePath(name: string): string {
  return `${FOLDER}/${name}.json`;
}

/** A theme of the workspace; undefined when the file is none. */
export async function readWorkspaceTheme(path: string): Promise<Theme | undefined> {
  try {
    const read = readTheme(await (await files.read(path)).text());
    return "theme" in read ? read.theme : undefined;
  } catch {
    // It is gone by now, or cannot be read; the theme in force stays.
    return undefined;
  }
}

/** A theme, and what is wrong with its file in the workspace. */
export interface Offered {
  theme: Theme;
  own: boolean;
}

/** The shipped themes, with what the workspace has in their place, then those that only it has. */
export function useThemes(): { themes: Offered[]; broken: string[] } {
  const { data } = useQuery({ queryKey: ["files", "themes"], queryFn: readAll, retry: false });
  const own = data ?? [];
  const good = own.flatMap(({ theme }) => theme ?? []);
  const names = new Set(good.map((theme) => theme.name));
  return {
    themes: inOrder([
      ...shipped.filter((s) => !names.has(s.name)).map((theme) => ({ theme, own: false })),
      ...good.map((theme) => ({ theme, own: !shipped.some((s) => s.name === theme.name) })),
    ]),
    broken: own.filter(({ theme }) => !theme).map(({ path }) => path),
  };
}

async function readAll(): Promise<{ path: string; theme: Theme | undefined }[]> {
  const { entries } = await files.folder(FOLDER);
  const paths = entries.map((f) => f.path).filter((p) => p.endsWith(".json"));
  return Promise.all(paths.map(async (path) => ({ path, theme: await readWorkspaceTheme(path) })));
}
