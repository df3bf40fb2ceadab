import type { Hear } from "#base/transport/bus.ts";

/** How long what arrives waits, in milliseconds: less than a frame. */
export const MOMENT_MS = 8;

/**
 * Gives on what arrives a moment later, in its order and together with what came
 * meanwhile. The desktop hears the same at the same time, and people look at it.
 */
export function later(hear: Hear, wait: (what: () => void, ms: number) => void = setTimeout): Hear {
  let waiting: (() => void)[] = [];
  const take = (what: () => void) => {
    if (waiting.push(what) > 1) return;
    wait(() => {
      const came = waiting;
      waiting = [];
      for (const what of came) what();
    }, MOMENT_MS);
  };
  return {
    event: (event) => take(() => hear.event(event)),
    live: (run, role, text) => take(() => hear.live(run, role, text)),
  };
}
