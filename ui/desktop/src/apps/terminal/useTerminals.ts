import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import type { ID, Time } from "#base/domain/contracts.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { useSession } from "../../session/session";
import { readAgain } from "../../state/again";
import { type End, type Terminal, terminals } from "../../transport/terminals";

const queryKey = ["terminals"];

/** How often the list is read while an agent runs a command, in milliseconds: no event tells that one is shown. */
const AGENT_MS = 2000;

/** How a terminal ended, and when this browser heard of it. */
export interface Ended extends End {
  at: Time;
}

/** The terminals of the computer as they come and go, in every browser, and how those that ended did. */
export function useTerminals() {
  const session = useSession();
  const queries = useQueryClient();
  const [calling, setCalling] = useState<ReadonlySet<ID>>(new Set());
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => terminals.list(signal),
    // Without a window nobody hears of those that end.
    gcTime: 0,
    refetchInterval: ({ state }) => (calling.size > 0 || state.data?.some((o) => o.agent) ? AGENT_MS : false),
  });
  const [ends, setEnds] = useState<ReadonlyMap<ID, Ended>>(new Map());
  const ended = useCallback(
    (id: ID, end: End) => {
      // The first to say how it ended knows best.
      setEnds((known) =>
        known.has(id) && end.reason === "lost"
          ? known
          : new Map(known).set(id, { ...end, at: new Date().toISOString() }),
      );
      unawaited(readAgain(queries, queryKey));
    },
    [queries],
  );
  useEffect(
    () =>
      session.listen((event) => {
        if (event.type === "terminal.closed") ended(event.payload.terminal, event.payload);
        else if (event.type === "terminal.opened") unawaited(readAgain(queries, queryKey));
        else if (event.type === "tool.called" && event.payload.tool === "bash") {
          setCalling((open) => new Set(open).add(event.payload.call));
        } else if (event.type === "tool.returned") {
          setCalling((open) => without(open, event.payload.call));
        } else if (event.type === "task.returned") {
          unawaited(readAgain(queries, queryKey));
        }
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

/** A set without one of its members; the same set where it has none. */
function without(all: ReadonlySet<ID>, one: ID): ReadonlySet<ID> {
  if (!all.has(one)) return all;
  const left = new Set(all);
  left.delete(one);
  return left;
}
