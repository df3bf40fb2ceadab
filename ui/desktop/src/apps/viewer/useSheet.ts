import { useEffect, useState } from "react";
import { encodingOf, Sheet } from "../../domain/csv";
import { files } from "../../transport/files";

/** The largest part of a table that is read, in bytes: it stays in memory as text. */
export const MOST_BYTES = 64 << 20;

/** Rows that are shown: a browser draws nothing that lies further down than some 17 million pixels. */
export const MOST_ROWS = 500_000;

/** How much is added before the page has its turn, in characters. */
const STEP = 1 << 18;

/** A table that is being read: the same sheet each time, with more rows. */
export interface Reading {
  sheet: Sheet;
  rows: number;
  /** All of it is there, or as much as is shown. */
  over: boolean;
  /** There is more than is shown. */
  cut: boolean;
}

/** Reads comma-separated values as they come; what is there can be seen before the rest. */
export function useSheet(path: string): { reading?: Reading; error?: unknown; again(): void } {
  const [state, setState] = useState<{ reading?: Reading; error?: unknown }>({});
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each round reads it anew
  useEffect(() => {
    const stop = new AbortController();
    read(path, stop.signal, (reading) => !stop.signal.aborted && setState({ reading })).catch(
      (error: unknown) => !stop.signal.aborted && setState({ error }),
    );
    return () => stop.abort();
  }, [path, round]);
  const again = () => {
    setState({});
    setRound(round + 1);
  };
  return { ...state, again };
}

async function read(path: string, signal: AbortSignal, onMore: (reading: Reading) => void): Promise<void> {
  const response = await files.read(path, signal);
  const sheet = new Sheet(MOST_ROWS);
  const reportRows = (over: boolean, cut: boolean) => onMore({ sheet, rows: sheet.rows, over, cut });
  let bytes = 0;
  let decoder: TextDecoder | undefined;
  const reader = response.body?.getReader();
  for (;;) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (value) {
      decoder ??= new TextDecoder(encodingOf(value));
      await addInTurns(sheet, decoder.decode(value, { stream: true }), signal);
      bytes += value.length;
    }
    const cut = sheet.full || (bytes >= MOST_BYTES && !done);
    if (done && decoder) sheet.add(decoder.decode());
    reportRows(done || cut, cut);
    if (done || cut) break;
  }
  // The rest is not wanted, however that ends.
  reader?.cancel().catch(() => undefined);
}

async function addInTurns(sheet: Sheet, text: string, signal: AbortSignal): Promise<void> {
  for (let at = 0; at < text.length; at += STEP) {
    sheet.add(text.slice(at, at + STEP));
    if (at + STEP < text.length) await new Promise((turn) => setTimeout(turn));
    signal.throwIfAborted();
  }
}
