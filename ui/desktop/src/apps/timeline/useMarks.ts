import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { tellsOfMark } from "#base/domain/telling.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { useSession } from "../../session/session";
import { readAgain } from "../../state/again";
import { moments } from "../../transport/moments";
import { inOrder } from "./marks";

/** Marks read at a time. */
const PAGE = 200;

/** How long a moment must stay chosen before it is read, in milliseconds. */
const SETTLED_MS = 150;

const key = ["files", "timeline"];

/** The marks known so far, oldest first, and the way to earlier ones. */
export function useMarks() {
  const session = useSession();
  const queries = useQueryClient();
  const { data, error, refetch, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => moments.marks(pageParam, PAGE, signal),
    initialPageParam: 0,
    getNextPageParam: ({ marks }) => (marks.length === PAGE ? marks.at(-1)?.seq : undefined),
  });
  // A change of files is a mark once its snapshot is told of, after the files.
  useEffect(
    () =>
      session.listen(({ type }) => {
        if (tellsOfMark(type)) unawaited(readAgain(queries, key));
      }),
    [session, queries],
  );
  const marks = useMemo(() => data && inOrder(data.pages), [data]);
  const earlier = () => {
    if (hasNextPage && !isFetching) unawaited(fetchNextPage());
  };
  return {
    marks,
    head: data?.pages[0]?.head ?? 0,
    error,
    retry: () => unawaited(refetch()),
    hasEarlier: hasNextPage,
    earlier,
  };
}

/** A value once it has stayed the same for a moment: who slides by does not ask for all of it. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
