import type { QueryClient } from "@tanstack/react-query";
import type { FileState } from "#base/domain/contracts.ts";
import type { Moment } from "#base/domain/views.ts";
import type { Session } from "../../session/session";

/** The query for the entries of a folder as it was. Moments with the same snapshot have the same files. */
export const folderThen = (session: Session, moment: Moment, path: string) => ({
  queryKey: ["folder", moment.snapshot, path],
  queryFn: () => session.api.moments.folder(moment.seq, path),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Whether a path was there, by the entries of each folder above it, from the top; the tree reads the same ones. */
export async function wasThere(queries: QueryClient, session: Session, moment: Moment, path: string): Promise<boolean> {
  for (let end = -1; end < path.length; ) {
    const folder = path.slice(0, Math.max(end, 0));
    end = path.indexOf("/", end + 1);
    if (end < 0) end = path.length;
    const entries: readonly FileState[] = await queries.ensureQueryData(folderThen(session, moment, folder));
    if (!entries.some((entry) => entry.path === path.slice(0, end))) return false;
  }
  return true;
}
