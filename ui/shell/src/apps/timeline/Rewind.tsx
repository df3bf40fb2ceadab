import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSession } from "../../app/session";
import type { Moment } from "../../domain/timeline";
import { Button } from "../../kit/Button";
import { Dialog } from "../../kit/Dialog";
import { notifyProblem } from "../../kit/notify";
import { Files } from "./Files";

/** Shows what going back would change, then goes back. */
export function Rewind({ moment, onClose }: { moment: Moment; onClose(): void }) {
  const session = useSession();
  const [busy, setBusy] = useState(false);
  const preview = useQuery({
    queryKey: ["rewind", moment.target],
    queryFn: () => session.api.rewind(moment.target, true),
    gcTime: 0,
  });
  const n = preview.data?.files.length ?? 0;
  const go = async () => {
    setBusy(true);
    try {
      await session.rewind(moment.target);
      onClose();
    } catch (error) {
      setBusy(false);
      notifyProblem(error);
    }
  };
  return (
    <Dialog label="Rewind files" onClose={onClose}>
      <header className="dialog-head">
        <div>
          <h2>{moment.kind === "rewind" ? "Undo this rewind" : "Rewind files to here"}</h2>
          <p>{moment.title}. The log keeps everything, so this can be undone.</p>
        </div>
      </header>
      <div className="dialog-main scroll">
        {preview.error && <p className="side-none">{preview.error.message}</p>}
        {preview.data && (
          <Files difference={preview.data} none="Nothing would change: the files are as they were then." />
        )}
        {preview.isPending && <p className="side-none">Looking what would change…</p>}
      </div>
      <footer className="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" disabled={busy || n === 0} onClick={() => void go()}>
          {n === 0 ? "Rewind" : `Rewind ${n} ${n === 1 ? "file" : "files"}`}
        </Button>
      </footer>
    </Dialog>
  );
}
