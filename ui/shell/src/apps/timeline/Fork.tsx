import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { type FormEvent, useState } from "react";
import { names } from "#base/domain/names.ts";
import { named } from "#base/domain/words.ts";
import { Button } from "#base/kit/Button.tsx";
import { Dialog } from "#base/kit/Dialog.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/words";
import "../../kit/confirm.css";

/** Names a second computer that begins at a moment of this one. */
export function Fork({ seq, when, onClose }: { seq: number; when: string; onClose(): void }) {
  const session = useSession();
  const mine = useStore((s) => s.computer?.name ?? t("step.myComputer"));
  const [name, setName] = useState(t("step.forkName", { name: mine, when }));
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
    <Dialog label={named(names.forkFromHere)} onClose={onClose}>
      <form onSubmit={(e) => unawaited(make(e))}>
        <header className="confirm-head">
          <div>
            <h2>{t("step.forkFrom", { when })}</h2>
            <p>{t("step.forkMore")}</p>
          </div>
        </header>
        <div className="confirm-main">
          <label className="field">
            <span>{t("step.name")}</span>
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
              <span>{t("step.keysStay", { n: data.withheld.length, paths: data.withheld.join(", ") })}</span>
            </p>
          ) : null}
        </div>
        <footer className="confirm-foot">
          <Button onClick={onClose}>{t("page.cancel")}</Button>
          <Button type="submit" look="primary" disabled={busy || !name.trim()}>
            {busy ? t("step.forking") : t("step.makeFork")}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
