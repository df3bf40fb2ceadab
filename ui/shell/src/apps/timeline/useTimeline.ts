import { useEffect, useState } from "react";
import type { Mark } from "#base/domain/views.ts";
import { notifyProblem } from "#base/kit/notify.ts";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";

/** The marks that are here; the first page is read when first asked for. */
export function useMarks(): readonly Mark[] {
  const session = useSession();
  useEffect(() => {
    session.marks.begin().catch(notifyProblem);
  }, [session]);
  return useStore((s) => s.marks);
}

/** The moment that is looked at; undefined is now. */
export function useSeq(): number | undefined {
  return useStore((s) => (s.route.page === "time" ? s.route.seq : undefined));
}

/** A value once it has stood still. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
