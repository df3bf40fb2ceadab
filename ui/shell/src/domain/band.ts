import type { Time } from "#base/domain/contracts.ts";
import type { Mark } from "#base/domain/views.ts";
import { whenWords } from "./time";

/** How a tick of the band looks. */
export type TickKind = "ask" | "step" | "kept" | "back";

/** A tick, at a part of the band's width from 0 to 1. */
export interface Tick {
  at: number;
  kind: TickKind;
}

/** From where to where one run was at work. */
export interface Span {
  from: number;
  to: number;
  run: string;
}

/** A time written below the band. */
export interface Label {
  at: number;
  text: string;
}

/** What the band shows: it never has more ticks than columns, however many marks there are. */
export interface Band {
  ticks: Tick[];
  spans: Span[];
  labels: Label[];
}

const rank: TickKind[] = ["step", "kept", "ask", "back"];

function kindOf(mark: Mark): TickKind {
  switch (mark.kind) {
    case "prompt":
      return "ask";
    case "rewind":
    case "undo":
      return "back";
    default:
      return mark.checkpoint || mark.kind === "checkpoint" ? "kept" : "step";
  }
}

/** Lays marks out by their order, oldest first; the end of the band is now. */
export function bandOf(marks: readonly Mark[], columns: number, now: number): Band {
  return { ticks: ticksOf(marks, columns), spans: spansOf(marks, columns), labels: labelsOf(marks, now) };
}

function ticksOf(marks: readonly Mark[], columns: number): Tick[] {
  const best = new Map<number, Tick>();
  for (const [i, mark] of marks.entries()) {
    const at = i / marks.length;
    const column = Math.floor(at * columns);
    const kind = kindOf(mark);
    const there = best.get(column);
    if (!there || rank.indexOf(kind) > rank.indexOf(there.kind)) best.set(column, { at, kind });
  }
  return [...best.values()];
}

// Neighbouring runs narrower than a column are drawn as one.
function spansOf(marks: readonly Mark[], columns: number): Span[] {
  const spans: Span[] = [];
  for (const [i, { run }] of marks.entries()) {
    if (!run) continue;
    const at = i / marks.length;
    const last = spans.at(-1);
    const joined = last && (last.run === run ? marks[i - 1]?.run === run : at - last.from < 1 / columns);
    if (last && joined) last.to = at;
    else spans.push({ from: at, to: at, run });
  }
  return spans;
}

const LABELS = 5;

function labelsOf(marks: readonly Mark[], now: number): Label[] {
  const labels: Label[] = [];
  for (let n = 0; n < LABELS; n++) {
    const i = Math.floor((n * marks.length) / LABELS);
    const time: Time | undefined = marks[i]?.at;
    const text = time ? whenWords(time, now) : "";
    if (text && text !== labels.at(-1)?.text) labels.push({ at: i / marks.length, text });
  }
  return labels;
}
