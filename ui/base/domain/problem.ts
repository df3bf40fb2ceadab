import type { Schema } from "./operations";

/** A refusal of the server, RFC 9457 with a stable code, or one that a page makes. */
export type ProblemDocument = Omit<Schema<"Problem">, "type" | "title">;

/** The problem that an answer of a server is about: what it says when that is a problem document, else its status. */
export function problemOf(said: unknown, status: number): ProblemDocument {
  if (
    typeof said === "object" &&
    said !== null &&
    "code" in said &&
    "detail" in said &&
    typeof said.detail === "string"
  )
    return said as ProblemDocument;
  return { status, code: "internal", detail: `the server answered ${status}` };
}

/** The paths that stood in the way of what was refused. */
export function conflictsOf(error: unknown): string[] {
  return error instanceof Refusal ? (error.problem.conflicts ?? []).map((c) => c.path) : [];
}

/** A request that was refused, or could not be made (status 0). */
export class Refusal extends Error {
  readonly problem: ProblemDocument;
  /** Seconds after which it may be tried again, where the server says so. */
  readonly retryAfter: number | undefined;

  constructor(problem: ProblemDocument, retryAfter?: number) {
    super(problem.detail);
    this.problem = problem;
    this.retryAfter = retryAfter;
  }
}

/** A request that was given up because nothing came in time. */
export class Unanswered extends Refusal {}

/** Whether something is asked for once more by itself after so many failures: not what was waited for long enough. */
export const isAskedAgain = (failures: number, error: unknown) => failures < 1 && !(error instanceof Unanswered);

/** Whether a refusal says that there is no such thing. */
export const isGone = (error: unknown) => error instanceof Refusal && error.problem.code === "not_found";

/** Whether a refusal is about one field of what was sent. */
export const isAbout = (error: unknown, field: string) => error instanceof Refusal && error.problem.field === field;

/** What happened and what to do next, for people. */
export function explain(error: unknown): { title: string; remedy?: string } {
  if (error instanceof Refusal) {
    const { detail, remedy } = error.problem;
    return { title: capital(detail), ...(remedy ? { remedy: capital(remedy) } : {}) };
  }
  return { title: error instanceof Error ? capital(error.message) : "Something unexpected happened" };
}

/** Begins a sentence with a capital. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
