import { useCallback, useEffect, useState } from "react";
import { past } from "../transport/address";
import { useSession } from "./session";

/** A text that is typed and not sent. */
export interface TypedText {
  text: string;
  change(text: string): void;
  /** Sends the text with `how`, and lets go of it once that is done: what failed is not lost. */
  send(how: () => Promise<unknown>): Promise<void>;
}

/**
 * Keeps a text that is typed and not sent, so that a part of the page that goes away, and a
 * reload, do not lose it. Returns the text, at first `first`, with what changes and sends it.
 */
export function useTyped(app: string, subject: string, first = ""): TypedText {
  const { drafts } = useSession();
  const [text, setText] = useState(first);
  useEffect(() => {
    if (past) return;
    const { read, unwatch } = drafts.watch(app, subject);
    read.then(
      (kept) => kept && setText((now) => (now === first ? kept.text : now)),
      () => undefined,
    );
    return unwatch;
  }, [drafts, app, subject, first]);
  const change = useCallback(
    (now: string) => {
      setText(now);
      if (now) drafts.keep(app, subject, { text: now, base: "" });
      else drafts.drop(app, subject);
    },
    [drafts, app, subject],
  );
  const send = async (how: () => Promise<unknown>) => {
    // The field may be gone before the answer is here, and the draft must still be known then.
    const { read, unwatch } = drafts.watch(app, subject);
    read.catch(() => undefined);
    try {
      await how();
      change("");
    } finally {
      unwatch();
    }
  };
  return { text, change, send };
}
