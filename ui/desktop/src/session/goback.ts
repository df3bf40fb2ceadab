import { notifyProblem } from "#base/kit/notify.ts";
import { deskWords } from "../i18n/desk";
import { say } from "../i18n/words";
import { useStore } from "../state/store";
import { moments } from "../transport/moments";
import { tellShell } from "../transport/shell";

/** Marks read at once, and how often at most: who did more in the time is led to the earliest of them. */
const PAGE = 200;
const PAGES = 20;

/** Asks for the page of the moment so many milliseconds ago, which going back to is confirmed on. */
export async function goBackBy(ms: number): Promise<void> {
  const then = Date.now() - ms;
  let before = 0;
  for (let page = 0; page < PAGES; page++) {
    const { marks } = await moments.marks(before, PAGE);
    const mark = marks.find((m) => Date.parse(m.at) <= then);
    if (mark) return tellShell({ kind: "open", page: "timeline", seq: mark.seq, back: true });
    const last = marks.at(-1);
    if (!last || marks.length < PAGE) break;
    before = last.seq;
  }
  notifyProblem(new Error(say(deskWords, useStore.getState().language, "goBackTooYoung")));
}
