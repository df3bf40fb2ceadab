import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import type { ID } from "#base/domain/contracts.ts";
import { Refusal } from "#base/domain/problem.ts";
import { notifyProblem } from "#base/kit/notify.ts";
import {
  arrived,
  choose,
  failed,
  type Kept,
  maySave,
  refusedBy,
  savedAs,
  sending,
  type Writing,
  writingOf,
  wrote,
} from "../../domain/writing";
import { type Doc, documents } from "../../transport/documents";

/** After this long without a key the text is saved by itself. */
const IDLE_MS = 1200;
/** A save that did not arrive is tried again after this long. */
const AGAIN_MS = 3000;

export const keptOf = (d: Doc): Kept => ({ version: d.version, content: d.content ?? "", by: d.by });

/** A document as it is written here, held against the newest version there is. */
export function useWriting(id: ID) {
  const newest = useQuery({
    queryKey: ["documents", id],
    queryFn: ({ signal }) => documents.read(id, -1, signal),
    retry: 1,
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
  useEffect(() => {
    if (!data) return;
    const known = keptOf(data);
    set(now.current ? arrived(now.current, known) : writingOf(known));
  }, [data, set]);

  const save = useCallback(
    async (accepted: ID[] = []) => {
      const w = now.current;
      if (!w || w.saving || w.theirs || (!maySave(w) && accepted.length === 0)) return;
      change(sending);
      try {
        const made = await documents.save(id, w.base.version, w.text, accepted);
        change((later) => savedAs(later, keptOf(made)));
      } catch (refused) {
        const problem = refused instanceof Refusal ? refused.problem : undefined;
        if (problem?.code === "conflict") {
          const other = await documents.read(id).catch(() => undefined);
          change((later) => (other ? refusedBy(later, keptOf(other)) : failed(later, true)));
          return;
        }
        change((later) => failed(later, problem?.status === 0));
        if (problem?.status !== 0) notifyProblem(refused);
      }
    },
    [id, change],
  );

  useEffect(() => {
    if (!writing || !maySave(writing)) return;
    const timer = setTimeout(() => void save(), writing.away ? AGAIN_MS : IDLE_MS);
    const back = () => void save();
    window.addEventListener("online", back);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("online", back);
    };
  }, [writing, save]);
  // What was typed is not left behind when the window closes.
  useEffect(() => () => void save(), [save]);

  return {
    doc: data,
    writing,
    error: newest.error,
    retry: () => void newest.refetch(),
    save,
    type: useCallback((text: string) => change((w) => wrote(w, text)), [change]),
    choose: useCallback((which: "mine" | "theirs") => change((w) => choose(w, which)), [change]),
  };
}
