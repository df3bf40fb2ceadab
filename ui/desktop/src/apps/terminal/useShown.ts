import { useState } from "react";
import type { ID } from "#base/domain/contracts.ts";
import type { Terminal as Open } from "../../transport/terminals";

/** The terminal with an id, and the tabs. A command of an agent that has ended while it was shown stays until `forget`. */
export function useShown(all: readonly Open[] | undefined, wanted: ID | undefined) {
  const [looked, setLooked] = useState<Open>();
  const there = all?.find((o) => o.terminal === wanted);
  if (there?.agent && looked?.terminal !== wanted) setLooked(there);
  const left = there === undefined && looked?.terminal === wanted ? looked : undefined;
  return {
    active: there ?? left,
    left: left !== undefined,
    tabs: [...(all ?? []), ...(left ? [left] : [])],
    forget: () => setLooked(undefined),
  };
}
