import type { Schema } from "./operations";

/** A refusal of the server, RFC 9457 with a stable code, or one that a page makes. */
export type ProblemDocument = Omit<Schema<"Problem">, "type" | "title">;

/** What happened, and what to do next. */
export interface Said {
  title: string;
  remedy?: string;
}
