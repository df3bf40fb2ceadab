import { useCallback, useEffect, useRef, useState } from "react";
import { isGone, Refusal } from "#base/domain/problem.ts";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import {
  conflicted,
  type Draft,
  decided,
  draftOf,
  found,
  isDirty,
  restored,
  saved,
  toKeep,
  typed,
} from "../../domain/draft";
import type { Typed } from "../../session/drafts";
import { useSession } from "../../session/session";
import { readText, useText } from "../../session/useFile";
import { past } from "../../transport/address";
import { files } from "../../transport/files";

const APP = "code";

/**
 * A file as it is written here, held against the one in the workspace. What is
 * not saved is kept by the server, and is the same in every browser.
 */
export function useDraft(path: string) {
  const { data, error, refetch } = useText(path);
  const { drafts } = useSession();
  const [draft, setDraft] = useState<Draft>();
  // What was typed before; null for nothing, undefined until that is known.
  const [kept, setKept] = useState<Typed | null | undefined>(past ? null : undefined);
  const now = useRef(draft);
  now.current = draft;
  // A conflict with another browser's text was decided; the draft says so once it is drawn.
  const decidedNow = useRef(false);
  const file = useRef(data);
  file.current = data;
  // What is not there any more is written anew.
  const gone = isGone(error);
  const lost = useRef(gone);
  lost.current = gone;

  useEffect(() => {
    if (past) return;
    let here = true;
    const changed = (other: Typed | undefined) => {
      setKept(other ?? null);
      // Saved or discarded elsewhere: what is in the file is the text.
      if (!other) unawaited(readText(path).then((is) => here && setDraft(draftOf(is))));
      else if (file.current?.digest === (other.base || undefined))
        setDraft(
          (d) =>
            d && { ...restored(file.current ?? d.base, other.text, other.base), saving: d.saving, heard: other.text },
        );
      else {
        setDraft(
          (d) =>
            d && { ...d, text: other.text, base: { text: "", digest: other.base || undefined }, heard: other.text },
        );
        unawaited(refetch());
      }
    };
    const clashed = ({ text, base }: Typed) =>
      setDraft((d) => d && conflicted(d, { text, digest: base || undefined, unsaved: true }));
    const watch = drafts.watch(APP, path, { changed, clashed });
    watch.read.then(
      (was) => here && setKept(was ?? null),
      // What is there all the same is met when something is kept.
      () => here && setKept(null),
    );
    return () => {
      here = false;
      watch.unwatch();
    };
  }, [drafts, path, refetch]);

  useEffect(() => {
    if (kept === undefined) return;
    if (data)
      setDraft((d) =>
        d ? found(d, data) : kept ? { ...restored(data, kept.text, kept.base), heard: kept.text } : draftOf(data),
      );
    // The file is gone, what was typed into it is not.
    else if (error && kept) setDraft((d) => d ?? typed(draftOf({ text: "", digest: undefined }), kept.text));
  }, [data, error, kept]);

  useEffect(() => {
    if (past || !draft || draft.saving || draft.theirs?.unsaved) return;
    const text = toKeep(draft);
    if (text) drafts.keep(APP, path, text, draft.base.text);
    else if (text === null) drafts.drop(APP, path);
    if (decidedNow.current) drafts.decide(APP, path);
    decidedNow.current = false;
  }, [draft, drafts, path]);

  const type = useCallback((text: string) => setDraft((d) => d && typed(d, text)), []);
  const revert = useCallback(() => {
    setDraft((d) => d && draftOf(d.theirs && !d.theirs.unsaved ? d.theirs : d.base));
    drafts.drop(APP, path);
  }, [drafts, path]);
  const decide = useCallback((which: "mine" | "theirs") => {
    decidedNow.current = true;
    setDraft((d) => d && decided(d, which));
  }, []);

  /** Says whether all of it is saved now. */
  const save = useCallback(async (): Promise<boolean> => {
    const d = now.current;
    if (!d || d.saving || d.theirs) return false;
    if (!isDirty(d) && !lost.current) return true;
    setDraft({ ...d, saving: true });
    try {
      const { digest } = await files.write(path, d.text, lost.current ? undefined : (d.base.digest ?? "*"));
      setDraft((later) => later && saved(later, { text: d.text, digest }));
      if (now.current?.text !== d.text) return false;
      drafts.drop(APP, path);
      return true;
    } catch (refused) {
      const conflict = refused instanceof Refusal && refused.problem.code === "conflict";
      // What cannot be read now is met by the next save.
      const theirs = conflict ? await readText(path).catch(() => undefined) : undefined;
      setDraft((later) => later && (theirs ? conflicted(later, theirs) : { ...later, saving: false }));
      if (!theirs) notifyProblem(refused);
      return false;
    }
  }, [drafts, path]);
  return { draft, gone, error, retry: () => unawaited(refetch()), type, save, revert, decide };
}
