/** Something that happens at most once in a span, and the last one always. */
export interface Pace<T> {
  put(value: T): void;
  /** Does what waits, now. */
  flush(): void;
}

/** The clock that a pace goes by. */
export interface Clock {
  now(): number;
  /** Calls back after so many milliseconds; gives what calls it off. */
  after(ms: number, then: () => void): () => void;
}

/** Calls `act` at most once in `span` milliseconds; of what comes between, the last. */
export function pace<T>(span: number, clock: Clock, act: (value: T) => void): Pace<T> {
  let last = Number.NEGATIVE_INFINITY;
  let waiting: { value: T; callOff(): void } | undefined;
  const fire = (value: T) => {
    waiting = undefined;
    last = clock.now();
    act(value);
  };
  return {
    put(value) {
      if (waiting) {
        waiting.value = value;
        return;
      }
      const rest = last + span - clock.now();
      if (rest <= 0) return fire(value);
      waiting = { value, callOff: clock.after(rest, () => waiting && fire(waiting.value)) };
    },
    flush() {
      if (!waiting) return;
      waiting.callOff();
      fire(waiting.value);
    },
  };
}

/** The clock of the page. */
export const pageClock: Clock = {
  now: () => performance.now(),
  after(ms, then) {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
};
