import type { ID } from "#base/domain/contracts.ts";

/** Words of the prompt, and the project they are about. */
export interface Prompted {
  text: string;
  repo: string;
}

/** The prompts of this page: words that lead to nothing come back to it. */
export interface Prompts {
  /** Sent, and not answered. */
  underWay: number;
  /** The words of each run that was begun here and has not ended. */
  begun: ReadonlyMap<ID, Prompted>;
  /** Runs that failed while a prompt was on its way: the answer that names its run may come later. */
  failed: ReadonlySet<ID>;
}

/** The prompts after a step, and the words that come back. */
export interface PromptStep {
  prompts: Prompts;
  back?: Prompted;
}

export const noPrompts: Prompts = { underWay: 0, begun: new Map(), failed: new Set() };

/** A prompt is on its way. */
export function sendPrompt(prompts: Prompts): Prompts {
  return { ...prompts, underWay: prompts.underWay + 1 };
}

/** The server said which run the words of a prompt began; its failure may have been heard before. */
export function beginRun(prompts: Prompts, run: ID, words: Prompted): PromptStep {
  if (!prompts.failed.has(run)) return { prompts: { ...prompts, begun: new Map(prompts.begun).set(run, words) } };
  return { prompts: { ...prompts, failed: without(prompts.failed, run) }, back: words };
}

/** A prompt was answered, or given up. */
export function closePrompt(prompts: Prompts): Prompts {
  const underWay = prompts.underWay - 1;
  return { ...prompts, underWay, failed: underWay === 0 ? new Set() : prompts.failed };
}

/** A run ended. */
export function endRun(prompts: Prompts, run: ID, failed: boolean): PromptStep {
  const words = prompts.begun.get(run);
  if (words) {
    const begun = new Map(prompts.begun);
    begun.delete(run);
    return { prompts: { ...prompts, begun }, ...(failed ? { back: words } : {}) };
  }
  if (!failed || prompts.underWay === 0) return { prompts };
  return { prompts: { ...prompts, failed: new Set(prompts.failed).add(run) } };
}

function without<T>(set: ReadonlySet<T>, item: T): Set<T> {
  const less = new Set(set);
  less.delete(item);
  return less;
}
