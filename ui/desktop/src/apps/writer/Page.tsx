import { useEffect } from "react";
import type { ID } from "#base/domain/contracts.ts";
import { isGone } from "#base/domain/problem.ts";
import { isUnsaved } from "../../domain/writing";
import { late } from "../../kit/late";
import { nextTask } from "../../kit/nextTask";
import { Gone, Loading, Trouble } from "../../kit/States";
import { useWriting } from "./useWriting";

const Open = late(
  async () => {
    // Both are large: each is evaluated in a task of its own.
    await import("./markdown");
    await nextTask();
    return import("./Open");
  },
  () => <Loading />,
);

/** One document. */
export function Page({ id }: { id: ID }) {
  const { doc, writing, error, ...hand } = useWriting(id);
  // What shows it is fetched while it is read; a failure is shown in its place.
  useEffect(() => {
    Open.load().catch(() => undefined);
  }, []);
  // What was typed into it and not saved stays in sight.
  if (isGone(error) && (!writing || !isUnsaved(writing))) return <Gone onAgain={hand.retry} />;
  if (error && !doc) return <Trouble error={error} onAgain={hand.retry} />;
  if (!doc || !writing) return <Loading />;
  return <Open id={id} doc={doc} writing={writing} {...hand} />;
}
