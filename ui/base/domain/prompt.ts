import { MAX_PROMPT } from "./contracts";

/** What a key means in a box for words. */
export type PromptKey = "send" | "clear" | "type";

/** Enter sends, Shift+Enter breaks the line, Escape clears; while a word is composed all keys type. */
export function promptKey(key: { key: string; shiftKey: boolean; isComposing: boolean }): PromptKey {
  if (key.isComposing) return "type";
  if (key.key === "Enter" && !key.shiftKey) return "send";
  return key.key === "Escape" ? "clear" : "type";
}

/** Characters as the server counts them: code points. */
export function lengthOf(text: string): number {
  let n = 0;
  for (const _ of text) n++;
  return n;
}

/** How near the limit a prompt is; quiet until nine tenths. */
export function room(text: string): { show: boolean; over: boolean; left: number } {
  const left = MAX_PROMPT - (text.length < MAX_PROMPT * 0.9 ? text.length : lengthOf(text));
  return { show: left <= MAX_PROMPT / 10, over: left < 0, left };
}
