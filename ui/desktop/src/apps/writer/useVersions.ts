import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ID } from "#base/domain/contracts.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { documents } from "../../transport/documents";

/** The versions of a document, and the one that is looked at. */
export function useVersions(id: ID, newest: number) {
  const [chosen, setChosen] = useState<number>();
  const looking = chosen !== undefined && chosen < newest ? chosen : undefined;
  const list = useQuery({ queryKey: ["documents", id, "versions"], queryFn: () => documents.versions(id) });
  const old = useQuery({
    queryKey: ["version", id, looking],
    queryFn: ({ signal }) => documents.read(id, looking, signal),
    enabled: looking !== undefined,
    // A version never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const numbers = (list.data ?? []).map((d) => d.version).sort((a, b) => a - b);
  const at = looking ?? newest;
  return {
    looking,
    old: old.data?.version === looking ? old.data : undefined,
    error: looking !== undefined ? old.error : undefined,
    again: () => unawaited(old.refetch()),
    before: numbers.filter((n) => n < at).at(-1),
    after: looking === undefined ? undefined : (numbers.find((n) => n > at) ?? newest),
    of: (list.data ?? []).find((d) => d.version === at),
    go: setChosen,
  };
}
