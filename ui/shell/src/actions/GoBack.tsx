import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { capital } from "#base/domain/problem.ts";
import type { Rewound } from "#base/domain/views.ts";
import { Button } from "#base/kit/Button.tsx";
import { Dialog } from "#base/kit/Dialog.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { count, terminalsEnd } from "../domain/sentence";
import { Files } from "../kit/DiffFiles";
import { useSession } from "../session/session";
import { useStore } from "../state/store";
import "../kit/confirm.css";
import "../kit/effects.css";
import "../kit/sidenone.css";

/** Says what going back would change, then goes back. */
export function GoBack({
  seq,
  when,
  onClose,
  onDone,
}: {
  seq: number;
  when: string;
  onClose(): void;
  onDone?(): void;
}) {
  const session = useSession();
  const [busy, setBusy] = useState(false);
  const { data, error } = useQuery({
    queryKey: ["rewind", seq],
    queryFn: () => session.api.rewind(seq, true),
    gcTime: 0,
    retry: false,
  });
  const go = async () => {
    setBusy(true);
    try {
      await session.rewind(seq, `You went back to ${when}`, onDone);
      onClose();
    } catch (error) {
      setBusy(false);
      notifyProblem(error);
    }
  };
  return (
    <Dialog label="Go back" onClose={onClose}>
      <header className="confirm-head">
        <div>
          <h2>Go back to {when}?</h2>
          <p>A step forward in the log, which keeps everything: this can be undone.</p>
        </div>
      </header>
      <div className="confirm-main scroll">
        {error && (
          <p role="alert" className="side-none">
            {error.message}
          </p>
        )}
        {!data && !error && <p className="side-none">Looking what would change…</p>}
        {data && (
          <>
            <Effects would={data} seq={seq} />
            <Files difference={data} folded none="" />
          </>
        )}
      </div>
      <footer className="confirm-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" disabled={busy || !data} onClick={() => unawaited(go())}>
          {busy ? "Going back…" : "Go back"}
        </Button>
      </footer>
    </Dialog>
  );
}

/** What will be different, in a few lines. */
function Effects({ would, seq }: { would: Rewound; seq: number }) {
  const session = useSession();
  const runs = useStore((s) => s.runs);
  const head = useStore((s) => s.marksHead);
  // From now to then: the way that is gone.
  const { data: way } = useQuery({
    queryKey: ["diff", 0, seq, head],
    queryFn: () => session.api.moments.diff(0, seq),
  });
  const ends = terminalsEnd(would.terminals);
  const prompt = (id: string) => runs.find((r) => r.id === id)?.prompt.split("\n")[0] ?? id;
  return (
    <ul className="effects">
      <li>
        {would.files.length === 0
          ? "No file of yours will change."
          : `${would.cut ? "More than " : ""}${count(would.files.length, "file")} will change.`}
      </li>
      {way?.documents.map((d) => (
        <li key={d.id}>
          The document “{d.title}” {d.to === undefined ? "will be gone" : `goes back to v${d.to}`}.
        </li>
      ))}
      {way?.desktop.map((words, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two windows may have one name
        <li key={i}>{capital(words)}</li>
      ))}
      <li>Permissions, costs and the record of runs stay as they are.</li>
      {ends && <li className="effects-stop">{ends}</li>}
      {would.stopped?.map((id) => (
        <li key={id} className="effects-stop">
          This run is at work and will be stopped: {prompt(id)}
        </li>
      ))}
    </ul>
  );
}
