/** What is chosen in a list, by place. */
export interface Selection {
  /** The place of the keyboard. */
  at: number;
  /** Where a range begins. */
  from: number;
  chosen: ReadonlySet<string>;
}

export const nothing: Selection = { at: 0, from: 0, chosen: new Set() };

/** How a choice adds to what is chosen. */
export type How = "only" | "toggle" | "range" | "walk";

/** Chooses the entry at a place. */
export function choose(ids: readonly string[], now: Selection, to: number, how: How): Selection {
  const at = Math.max(0, Math.min(ids.length - 1, to));
  const id = ids[at];
  if (id === undefined) return nothing;
  if (how === "walk") return { ...now, at };
  if (how === "range") {
    const [low, high] = now.from < at ? [now.from, at] : [at, now.from];
    return { at, from: now.from, chosen: new Set(ids.slice(low, high + 1)) };
  }
  const chosen = new Set(how === "toggle" ? now.chosen : []);
  if (how === "toggle" && chosen.has(id)) chosen.delete(id);
  else chosen.add(id);
  return { at, from: at, chosen };
}

/** The selection once the list is another one: what is still there stays chosen. */
export function kept(ids: readonly string[], now: Selection): Selection {
  const there = new Set(ids);
  const chosen = new Set([...now.chosen].filter((id) => there.has(id)));
  const within = (n: number) => Math.max(0, Math.min(ids.length - 1, n));
  return { at: within(now.at), from: within(now.from), chosen };
}
