import type { Terminal } from "@xterm/xterm";
import { tellShell } from "../../transport/shell";

/** What a program may call a terminal: one short line of what can be read. */
export function safeTitle(title: string): string {
  return [...title.replace(/[\p{C}\s]+/gu, " ").trim()].slice(0, 60).join("");
}

/** The address of a link, if it may be followed. */
export function safeLink(text: string): string | undefined {
  try {
    const url = new URL(text);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** Asks the shell to open a link that a program printed. */
export function follow(text: string): void {
  const address = safeLink(text);
  if (address) tellShell({ kind: "link", address });
}

/**
 * Keeps the terminal from answering what programs ask of it while `mute` says
 * so: what was asked before this browser came was answered then, and only one
 * of several browsers answers.
 */
export function muteAnswers(term: Terminal, mute: () => boolean): void {
  const { parser } = term;
  const asks = ([first]: (number | number[])[]) => first === 5 || first === 6 || first === 15;
  parser.registerCsiHandler({ final: "c" }, mute);
  parser.registerCsiHandler({ prefix: ">", final: "c" }, mute);
  parser.registerCsiHandler({ prefix: "=", final: "c" }, mute);
  parser.registerCsiHandler({ final: "n" }, (params) => asks(params) && mute());
  parser.registerCsiHandler({ prefix: "?", final: "n" }, mute);
  parser.registerCsiHandler({ prefix: ">", final: "q" }, mute);
  parser.registerCsiHandler({ intermediates: "$", final: "p" }, mute);
  parser.registerCsiHandler({ prefix: "?", intermediates: "$", final: "p" }, mute);
  parser.registerDcsHandler({ intermediates: "$", final: "q" }, mute);
  for (const color of [4, 10, 11, 12]) parser.registerOscHandler(color, (data) => data.includes("?") && mute());
  // The clipboard is the user's alone.
  parser.registerOscHandler(52, () => true);
}
