import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import type { ID } from "#base/domain/contracts.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { useSession } from "../../session/session";
import { readAgain } from "../../state/again";
import { type End, type Terminal, terminals } from "../../transport/terminals";

const queryKey = ["terminals"];

/** The terminals of the computer as they come and go, in every browser, and how those that ended did. */
export function useTerminals() {
  const session = useSession();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => terminals.list(signal),
    // Without a window nobody hears of those that end.
    gcTime: 0,
  });
  const [ends, setEnds] = useState<ReadonlyMap<ID, End>>(new Map());
  const ended = useCallback(
    (id: ID, end: End) => {
      // The first to say how it ended knows best.
      setEnds((known) => (known.has(id) && end.reason === "lost" ? known : new Map(known).set(id, end)));
      unawaited(readAgain(queries, queryKey));
    },
    [queries],
  );
  useEffect(
    () =>
      session.listen((event) => {
        if (event.type === "terminal.closed") ended(event.payload.terminal, event.payload);
        else if (event.type === "terminal.opened") unawaited(readAgain(queries, queryKey));
      }),
    [session, queries, ended],
  );
  /** Opens one; the same key opens it once. */
  const open = async (key: string): Promise<Terminal> => {
    const made = await terminals.open({}, key);
    queries.setQueryData<Terminal[]>(queryKey, (all = []) =>
      all.some((o) => o.terminal === made.terminal) ? all : [...all, made],
    );
    return made;
  };
  return { all: data, error, refetch, ends, ended, open };
}
