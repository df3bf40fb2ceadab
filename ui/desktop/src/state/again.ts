import type { QueryClient, QueryKey } from "@tanstack/react-query";

/** What is being read goes on. */
const follow = { cancelRefetch: false } as const;

/**
 * Has all that is shown of `key` read again. What is being read is not given up,
 * but may be of before: it is read once more, however often this was called meanwhile.
 */
export async function readAgain(queries: QueryClient, key: QueryKey): Promise<void> {
  const underWay = queries.getQueryCache().findAll({ queryKey: key, fetchStatus: "fetching" });
  await queries.invalidateQueries({ queryKey: key }, follow);
  await Promise.all(underWay.map(({ queryKey }) => queries.invalidateQueries({ queryKey, exact: true }, follow)));
}
