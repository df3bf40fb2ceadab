import { useCallback, useEffect, useRef, useState } from "react";
import { Refusal } from "#base/domain/problem.ts";
import { notifyProblem } from "#base/kit/notify.ts";
import { readText, useText } from "../../app/useFile";
import { conflicted, type Draft, decided, draftOf, found, saved, typed } from "../../domain/draft";
import { files } from "../../transport/files";

/** A file as it is written here, held against the one in the workspace. */
export function useDraft(path: string) {
  const { data, error, refetch } = useText(path);
  const [draft, setDraft] = useState<Draft>();
  const now = useRef(draft);
  now.current = draft;
  useEffect(() => {
    if (data) setDraft((d) => (d ? found(d, data) : draftOf(data)));
  }, [data]);

  const type = useCallback((text: string) => setDraft((d) => d && typed(d, text)), []);
  const revert = useCallback(() => setDraft((d) => d && draftOf(d.base)), []);
  const decide = useCallback((which: "mine" | "theirs") => setDraft((d) => d && decided(d, which)), []);

  const save = useCallback(async () => {
    const d = now.current;
    if (!d || d.saving || d.text === d.base.text) return;
    setDraft({ ...d, saving: true });
    try {
      const { digest } = await files.write(path, d.text, d.base.digest ?? "*");
      setDraft((later) => later && saved(later, { text: d.text, digest }));
    } catch (refused) {
      if (refused instanceof Refusal && refused.problem.code === "conflict") {
        const theirs = await readText(path);
        setDraft((later) => later && conflicted(later, theirs));
        return;
      }
      setDraft((later) => later && { ...later, saving: false });
      notifyProblem(refused);
    }
  }, [path]);
  return { draft, error, retry: () => void refetch(), type, save, revert, decide };
}
