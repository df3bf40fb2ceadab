import { useMemo } from "react";
import { isOpen } from "#base/domain/views.ts";
import { type Stacked, stackOf } from "../../domain/card";
import { useStore } from "../../state/store";

/** The cards above the prompt, the oldest first. */
export function useStack(): Stacked[] {
  const runs = useStore((s) => s.runs);
  const stories = useStore((s) => s.stories);
  const unfolded = useStore((s) => s.unfolded);
  return useMemo(() => stackOf(runs, stories, unfolded), [runs, stories, unfolded]);
}

/** Whether nothing is at work and no answer lies open: there is room for a greeting. */
export function useAtRest(): boolean {
  const stack = useStack();
  const known = useStore((s) => s.computer !== undefined);
  return known && !stack.some(({ card, unfolded }) => unfolded || isOpen(card.state));
}
