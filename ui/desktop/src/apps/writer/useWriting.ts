import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import type { ID } from "#base/domain/contracts.ts";
import { isAskedAgain, Refusal } from "#base/domain/problem.ts";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import {
  arrived,
  choose,
  failed,
  isUnsaved,
  type Kept,
  letGo,
  maySave,
  refusedBy,
  restored,
  savedAs,
  sending,
  type Writing,
  writingOf,
  wrote,
} from "../../domain/writing";
import type { Typed } from "../../session/drafts";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { past } from "../../transport/address";
import { type Doc, documents } from "../../transport/documents";

/** After this long without a key the text is saved by itself. */
const IDLE_MS = 1200;
/**
 * A text that was left unsaved is saved by itself once nobody changed it for so long. Another browser that still types
 * it saves it before that, or says with each letter that it goes on.
 */
const LEFT_MS = 4000;
/** A save that did not arrive is tried again after this long, and seldom while the page knows that nothing arrives. */
const AGAIN_MS = 3000;
const AWAY_MS = 60_000;

export const keptOf = (d: Doc): Kept => ({ version: d.version, content: d.content ?? "", by: d.by });

/** A document as it is written here, held against the newest version there is. */
export function useWriting(id: ID) {
  const newest = useQuery({
    queryKey: ["documents", id],
    queryFn: ({ signal }) => documents.read(id, -1, signal),
    retry: isAskedAgain,
  });
  const [writing, setWriting] = useState<Writing>();
  const now = useRef(writing);
  now.current = writing;
  const set = useCallback((w: Writing) => {
    now.current = w;
    setWriting(w);
  }, []);
  const change = useCallback((to: (w: Writing) => Writing) => now.current && set(to(now.current)), [set]);
  const { data } = newest;
  const { drafts } = useSession();
  const isConnected = useStore((s) => s.connection === "live" || s.connection === "polling");
  // The text is what was left, and nothing was typed since: it is not saved as soon.
  const resting = useRef(false);
  // What was typed and left before it was saved; null for nothing, undefined until that is known.
  const [left, setLeft] = useState<Typed | null | undefined>(past ? null : undefined);
  useEffect(() => {
    if (past) return;
    // Another browser may still be typing it: until something is typed here this one only follows.
    const follow = (typed: Typed | undefined) => {
      const w = now.current;
      if (!w || !resting.current) return;
      set(typed ? { ...w, text: typed.text } : letGo(w));
    };
    const watch = drafts.watch("writer", `document:${id}`, { changed: follow, clashed: follow });
    watch.read.then(
      (was) => setLeft(was ?? null),
      () => setLeft(null),
    );
    return watch.unwatch;
  }, [drafts, id, set]);
  useEffect(() => {
    if (!data || left === undefined) return;
    const known = keptOf(data);
    if (now.current) return set(arrived(now.current, known));
    set(left ? restored(known, left.text, Number(left.base)) : writingOf(known));
    resting.current = left !== null;
  }, [data, left, set]);
  useEffect(() => {
    if (past || !writing || writing.saving || resting.current) return;
    const { text, base } = writing;
    if (isUnsaved(writing)) drafts.keep("writer", `document:${id}`, { text, base: String(base.version) });
    else drafts.drop("writer", `document:${id}`, text);
  }, [writing, drafts, id]);

  const save = useCallback(
    async (accepted: ID[] = []): Promise<boolean> => {
      const w = now.current;
      if (!w || w.saving || w.theirs || (!maySave(w) && accepted.length === 0)) return false;
      change(sending);
      try {
        const made = await documents.save(id, w.base.version, w.text, accepted);
        change((later) => savedAs(later, keptOf(made)));
        if (now.current?.text !== w.text) return false;
        drafts.drop("writer", `document:${id}`, w.text);
        return true;
      } catch (refused) {
        const problem = refused instanceof Refusal ? refused.problem : undefined;
        if (problem?.code === "conflict") {
          const other = await documents.read(id).catch(() => undefined);
          change((later) => (other ? refusedBy(later, keptOf(other)) : failed(later, true)));
          return false;
        }
        change((later) => failed(later, problem?.status === 0));
        if (problem?.status !== 0) notifyProblem(refused);
        return false;
      }
    },
    [id, change, drafts],
  );

  useEffect(() => {
    if (past || !writing || !maySave(writing)) return;
    const again = isConnected ? AGAIN_MS : AWAY_MS;
    const rest = resting.current ? LEFT_MS : writing.away ? again : IDLE_MS;
    const timer = setTimeout(() => unawaited(save()), rest);
    const back = () => unawaited(save());
    window.addEventListener("online", back);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("online", back);
    };
  }, [writing, save, isConnected]);
  // What was typed is not left behind when the window closes.
  useEffect(() => () => unawaited(save()), [save]);

  return {
    doc: data,
    writing,
    error: newest.error,
    retry: () => unawaited(newest.refetch()),
    save,
    type: useCallback(
      (text: string) => {
        resting.current = false;
        change((w) => wrote(w, text));
      },
      [change],
    ),
    discard: useCallback(() => {
      const text = now.current?.text;
      change(letGo);
      drafts.drop("writer", `document:${id}`, text);
    }, [change, drafts, id]),
    choose: useCallback((which: "mine" | "theirs") => change((w) => choose(w, which)), [change]),
  };
}
