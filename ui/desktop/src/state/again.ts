import type { QueryClient, QueryKey } from "@tanstack/react-query";

/**
 * Has all that is shown of `key` read again. What is being read for the first
 * time is not disturbed, but may be of before: it is read once more.
 */
export async function readAgain(queries: QueryClient, key: QueryKey): Promise<void> {
  const first = queries
    .getQueryCache()
    .findAll({ queryKey: key, fetchStatus: "fetching", predicate: (query) => query.state.data === undefined });
  await queries.invalidateQueries({ queryKey: key });
  await Promise.all(first.map((query) => queries.invalidateQueries({ queryKey: query.queryKey, exact: true })));
}
