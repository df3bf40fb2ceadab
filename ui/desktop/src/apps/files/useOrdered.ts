import { useEffect, useMemo, useState } from "react";
import { notifyProblem } from "#base/kit/notify.ts";
import { orderOf, type SortBy } from "../../domain/path";
import { useStore } from "../../state/store";
import type { Item } from "./place";
import { inTurns, sortSteps } from "./steps";

/** Up to so many are sorted at once. */
const FEW = 1000;

/** Entries in an order. Many are sorted while the page goes on; until then it is the order there was, if any. */
export function useOrdered(items: readonly Item[] | undefined, by: SortBy, down: boolean): readonly Item[] | undefined {
  const language = useStore((s) => s.language);
  const order = useMemo(() => {
    const files = orderOf(by, down, language);
    return (a: Item, b: Item) => files(a.file, b.file);
  }, [by, down, language]);
  const few = useMemo(() => (items && items.length <= FEW ? [...items].sort(order) : undefined), [items, order]);
  const [many, setMany] = useState<readonly Item[]>();
  useEffect(() => {
    if (!items || items.length <= FEW) return setMany(undefined);
    const given = new AbortController();
    inTurns(sortSteps(items, order), given.signal).then(setMany, (error: unknown) => {
      if (!given.signal.aborted) notifyProblem(error);
    });
    return () => given.abort();
  }, [items, order]);
  return few ?? many;
}
