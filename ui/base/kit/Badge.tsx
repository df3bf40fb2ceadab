import type { ReactNode } from "react";
import "./badge.css";

/** What a badge means. */
export type Tone = "neutral" | "accent" | "good" | "unsure" | "bad";

/** A short fact beside a thing. */
export function Badge({ tone = "neutral", children, title }: { tone?: Tone; children: ReactNode; title?: string }) {
  return (
    <span className={`badge badge-${tone}`} title={title}>
      {children}
    </span>
  );
}
