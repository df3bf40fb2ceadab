import { readDiff } from "./diff";

/** Characters shown of one file. */
const SHOWN = 400_000;

/** Bytes as text when they are that: UTF-8 without NUL. */
export function textOf(content: ArrayBuffer, shown = SHOWN): { text: string; cut: boolean } | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    if (text.includes("\0")) return undefined;
    return text.length > shown
      ? { text: text.slice(0, text.lastIndexOf("\n", shown)), cut: true }
      : { text, cut: false };
  } catch {
    return undefined;
  }
}

/** The first line of a text in at most `most` characters: cut between words, with an ellipsis. */
export function shortened(text: string, most: number): string {
  const [line = "", ...more] = text.trim().split(/\r?\n/);
  // What shows nothing is refused in titles.
  const whole = line.replace(/[\p{Cc}\p{Bidi_Control}]/gu, " ").trimEnd();
  if (whole.length <= most && more.length === 0) return whole;
  const room = whole.slice(0, most - 1);
  // One that was cut within its last word loses it, unless that would be half of the text.
  const cut = whole.length > room.length && !/\s/.test(whole[room.length] ?? "") ? room.search(/\s\S*$/) : -1;
  const kept = cut >= most / 2 ? room.slice(0, cut) : room.replace(/[\uD800-\uDBFF]$/, "");
  return `${kept.trimEnd()}…`;
}

/** Numbers of the lines that a unified diff added, from 1. */
export function addedLines(diff: string): Set<number> {
  const added = readDiff(diff).flatMap((f) => f.lines.flatMap((l) => (l.kind === "add" && l.after ? [l.after] : [])));
  return new Set(added);
}

/** A text in pieces of whole lines: new ones apart from the others. */
export function piecesOf(text: string, added: ReadonlySet<number>): { text: string; added: boolean }[] {
  const pieces: { text: string; added: boolean }[] = [];
  const lines = text.split(/(?<=\n)/);
  for (const [i, line] of lines.entries()) {
    const isNew = added.has(i + 1);
    const last = pieces.at(-1);
    if (last && last.added === isNew) last.text += line;
    else pieces.push({ text: line, added: isNew });
  }
  return pieces;
}
