import { useEffect, useState } from "react";
import { useSession } from "../../app/session";
import type { Time } from "../../domain/contracts";
import { placeOf } from "../../domain/marks";
import type { Mark } from "../../domain/views";
import { notifyProblem } from "../../kit/notify";
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

/** When an event was, as far as marks tell. */
export function timeIn(marks: readonly Mark[]): (seq: number) => Time | undefined {
  return (seq) => marks[placeOf(marks, seq)]?.at;
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
