import { useQuery } from "@tanstack/react-query";
import { isGone } from "#base/domain/problem.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { changeTo, defaultTheme, inOrder, readTheme, sameTheme, shipped, type Theme } from "../domain/theme";
import { useStore } from "../state/store";
import { desk } from "../transport/desk";
import { files } from "../transport/files";

/** Where themes lie in the workspace. */
const FOLDER = "choiros/themes";

/** Where a theme lies in the workspace. */
export function themePath(name: string): string {
  return `${FOLDER}/${name}.json`;
}

const nameInForce = () => useStore.getState().theme?.name ?? defaultTheme;

/** The file of the theme in force. */
export const fileInForce = () => themePath(nameInForce());

/** The theme in force lies in the workspace too: who edits it there sees it here. */
export async function followTheme(): Promise<void> {
  const name = nameInForce();
  const theme = await readWorkspaceTheme(themePath(name));
  if (theme?.name !== name || name !== nameInForce()) return;
  const change = changeTo(theme);
  if (!sameTheme(change, useStore.getState().theme)) await desk.setTheme(change).catch(() => undefined);
}

/** A theme of the workspace; undefined when the file is none, or cannot be read now: the theme in force stays. */
export function readWorkspaceTheme(path: string): Promise<Theme | undefined> {
  return themeIn(path).catch(() => undefined);
}

async function themeIn(path: string): Promise<Theme | undefined> {
  const read = readTheme(await files.receive(path, (response) => response.text()));
  return "theme" in read ? read.theme : undefined;
}

/** A theme, and what is wrong with its file in the workspace. */
export interface Offered {
  theme: Theme;
  own: boolean;
}

/** The shipped themes, with what the workspace has in their place, then those that only it has, and why those are not known. */
export function useThemes(): { themes: Offered[]; broken: string[]; error: unknown; again(): void } {
  const { data, error, refetch } = useQuery({ queryKey: ["files", "themes"], queryFn: readAll, retry: false });
  const own = data ?? [];
  const good = own.flatMap(({ theme }) => theme ?? []);
  const names = new Set(good.map((theme) => theme.name));
  return {
    themes: inOrder([
      ...shipped.filter((s) => !names.has(s.name)).map((theme) => ({ theme, own: false })),
      ...good.map((theme) => ({ theme, own: !shipped.some((s) => s.name === theme.name) })),
    ]),
    broken: own.filter(({ theme }) => !theme).map(({ path }) => path),
    // Where there is no folder there are no themes.
    error: isGone(error) ? undefined : error,
    again: () => unawaited(refetch()),
  };
}

async function readAll(): Promise<{ path: string; theme: Theme | undefined }[]> {
  const { entries } = await files.folder(FOLDER);
  const paths = entries.map((f) => f.path).filter((p) => p.endsWith(".json"));
  return Promise.all(paths.map(async (path) => ({ path, theme: await themeIn(path) })));
}
