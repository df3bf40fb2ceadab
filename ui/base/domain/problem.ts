import { tell } from "./basewords";
import { type Language, spoken } from "./language";
import type { ProblemDocument, Said } from "./problemtypes";

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
  return { status, code: "internal", detail: tell("answered", { status: String(status) }) };
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

let inGerman: ((problem: ProblemDocument) => Said) | undefined;

/** Fetches the sentences of problems in a language. In English the server says them; so it does until others are here. */
export async function sayProblemsIn(language: Language): Promise<void> {
  if (language === "en" || inGerman) return;
  try {
    inGerman = (await import("./problemsaid")).problemInGerman;
  } catch {
    // the next language that is wanted tries again
  }
}

/** What happened and what to do next, for people. */
export function explain(error: unknown): Said {
  if (error instanceof Refusal) {
    const { detail, remedy: help } = error.problem;
    const said: Said = { title: detail, ...(help ? { remedy: help } : {}) };
    const { title, remedy } = spoken() !== "en" && inGerman ? inGerman(error.problem) : said;
    return { title: capital(title), ...(remedy ? { remedy: capital(remedy) } : {}) };
  }
  return { title: error instanceof Error ? capital(error.message) : tell("unexpected") };
}

/** Begins a sentence with a capital. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
