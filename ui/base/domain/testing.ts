import type { EventOf, EventType, PayloadByType } from "./contracts";

/** Ids for tests. */
export const RUN = "01900000-0000-7000-8000-00000000000a";
export const TASK = "01900000-0000-7000-8000-00000000000b";

/** An event for tests; `over` sets its other fields. */
export function event<T extends EventType>(
  seq: number,
  type: T,
  payload: PayloadByType[T],
  over: Partial<EventOf<T>> = {},
): EventOf<T> {
  return {
    seq,
    id: `id-${seq}`,
    time: "2026-11-21T02:28:00.000Z",
    computer: "c",
    user: "u",
    source: "system",
    type,
    payload,
    prev_hash: "",
    hash: "",
    ...over,
  };
}
