import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import type { Event, ID } from "#base/domain/contracts.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { traceOf } from "../../domain/trace";
import { useSession } from "../../session/session";
import { api } from "../../transport/api";

/** All events of a run, and those that come. */
export function useTrace(run: ID | undefined) {
  const session = useSession();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: ["trace", run],
    enabled: run !== undefined,
    queryFn: () => readAll(run ?? ""),
  });
  useEffect(
    () =>
      session.listen((event) => {
        if (event.run !== run) return;
        queries.setQueryData<Event[]>(["trace", run], (there) =>
          there && (there.at(-1)?.seq ?? 0) < event.seq ? [...there, event] : there,
        );
      }),
    [session, queries, run],
  );
  const trace = useMemo(() => data && traceOf(data), [data]);
  return { events: data, trace, error, retry: () => unawaited(refetch()) };
}

async function readAll(run: ID): Promise<Event[]> {
  const events: Event[] = [];
  for (let after = 0; ; ) {
    const page = await api.events(after, run);
    events.push(...page.events);
    const last = page.events.at(-1);
    if (!last || page.events.length < 1000) return events;
    after = last.seq;
  }
}
