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
