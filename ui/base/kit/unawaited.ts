import { notifyProblem } from "./notify";

/** Lets work go on without waiting for it; an error of it is told to the person. */
export function unawaited(work: Promise<unknown> | undefined): void {
  work?.catch(notifyProblem);
}
