import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { type FormEvent, useState } from "react";
import { names } from "#base/domain/names.ts";
import { Button } from "#base/kit/Button.tsx";
import { Dialog } from "#base/kit/Dialog.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { count } from "../../domain/sentence";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import "../../kit/confirm.css";

/** Names a second computer that begins at a moment of this one. */
export function Fork({ seq, when, onClose }: { seq: number; when: string; onClose(): void }) {
  const session = useSession();
  const mine = useStore((s) => s.computer?.name ?? "My computer");
  const [name, setName] = useState(`${mine}, from ${when}`);
  const [busy, setBusy] = useState(false);
  const { data, error } = useQuery({
    queryKey: ["fork", seq],
    queryFn: () => session.api.fork(seq, "fork", true),
    gcTime: 0,
    retry: false,
  });
  const make = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    try {
      await session.fork(seq, name.trim());
      onClose();
    } catch (error) {
      setBusy(false);
      notifyProblem(error);
    }
  };
  return (
    <Dialog label={names.forkFromHere.en} onClose={onClose}>
      <form onSubmit={(e) => unawaited(make(e))}>
        <header className="confirm-head">
          <div>
            <h2>Fork from {when}</h2>
            <p>A second computer that shares this one’s past up to then. Neither changes the other.</p>
          </div>
        </header>
        <div className="confirm-main">
          <label className="field">
            <span>Name</span>
            <input value={name} maxLength={100} required onChange={(e) => setName(e.target.value)} />
          </label>
          {error && (
            <p role="alert" className="side-none">
              {error.message}
            </p>
          )}
          {data?.withheld?.length ? (
            <p className="chosen-warning">
              <TriangleAlert size={15} aria-hidden />
              <span>
                {count(data.withheld.length, "file")} that look like keys stay behind: {data.withheld.join(", ")}
              </span>
            </p>
          ) : null}
        </div>
        <footer className="confirm-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={busy || !name.trim()}>
            {busy ? "Forking…" : "Make the fork"}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
