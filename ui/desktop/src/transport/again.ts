import { backoff } from "#base/domain/backoff.ts";
import { Refusal } from "#base/domain/problem.ts";

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/**
 * Asks until there is an answer, with growing pauses. Undefined once `over` says
 * that nobody waits for it, or nobody is logged in any more.
 */
export async function untilAnswered<T>(
  ask: () => Promise<T>,
  over: () => boolean,
  sleep: (ms: number) => Promise<void> = pause,
): Promise<T | undefined> {
  for (let attempt = 0; !over(); attempt++) {
    try {
      const answer = await ask();
      return over() ? undefined : answer;
    } catch (error) {
      if (error instanceof Refusal && error.problem.code === "unauthenticated") return undefined;
      await sleep(backoff(attempt, Math.random()));
    }
  }
  return undefined;
}
