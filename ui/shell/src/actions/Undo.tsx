import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { ID } from "#base/domain/contracts.ts";
import { conflictsOf } from "#base/domain/problem.ts";
import { Button } from "#base/kit/Button.tsx";
import { Dialog } from "#base/kit/Dialog.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import type { Route } from "../domain/route";
import { Files } from "../kit/DiffFiles";
import { Ends } from "../kit/Ends";
import { useSession } from "../session/session";
import { t } from "../words/words";
import "../kit/confirm.css";
import "../kit/sidenone.css";
import "./back.css";

/** How long what would change is shown before it can be confirmed, in milliseconds: a desktop may have opened this under a click. */
const READ_MS = 700;

interface Props {
  of: ID;
  title: string;
  /** What is shown afterwards; now in the timeline when absent. */
  then?: Route;
  onClose(): void;
}

/** Undoes one step and keeps what came after it, or says what stands in the way. */
export function Undo({ of, title, then, onClose }: Props) {
  const session = useSession();
  const [busy, setBusy] = useState(false);
  const [met, setMet] = useState<unknown>();
  const { data, error } = useQuery({
    queryKey: ["undo", of],
    queryFn: () => session.api.undo(of, true),
    gcTime: 0,
    retry: false,
  });
  const conflicts = conflictsOf(met ?? error);
  const read = useRead(data !== undefined);
  const take = async () => {
    setBusy(true);
    try {
      await session.undo(of, then);
      if (!then) onClose();
    } catch (error) {
      setBusy(false);
      setMet(error);
      if (conflictsOf(error).length === 0) notifyProblem(error);
    }
  };
  return (
    <Dialog label={t("step.undoThis")} onClose={onClose}>
      <header className="confirm-head">
        <div>
          <h2>{t("step.undoQuestion")}</h2>
          <p>{t("step.undoMore", { title: title.replace(/\.$/, "") })}</p>
        </div>
      </header>
      <div className="confirm-main scroll">
        {error && conflicts.length === 0 && (
          <p role="alert" className="side-none">
            {error.message}
          </p>
        )}
        {!data && !error && <p className="side-none">{t("page.looking")}</p>}
        {conflicts.length > 0 && <Conflicts paths={conflicts} />}
        {conflicts.length === 0 && <Ends terminals={data?.terminals} />}
        {data && conflicts.length === 0 && <Files difference={data} none={t("step.nothingLeft")} />}
      </div>
      <footer className="confirm-foot">
        <Button onClick={onClose}>{conflicts.length > 0 ? t("page.close") : t("page.cancel")}</Button>
        {conflicts.length === 0 && (
          <Button look="primary" disabled={busy || !read || !data?.files.length} onClick={() => unawaited(take())}>
            {t("step.undo")}
          </Button>
        )}
      </footer>
    </Dialog>
  );
}

/** Whether what is shown was there long enough to be read. */
function useRead(shown: boolean): boolean {
  const [read, setRead] = useState(false);
  useEffect(() => {
    if (!shown) return;
    const timer = setTimeout(() => setRead(true), READ_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  return read;
}

function Conflicts({ paths }: { paths: readonly string[] }) {
  return (
    <div role="alert" className="conflicts">
      <p>{t("step.conflicts", { n: paths.length })}</p>
      <ul>
        {paths.map((p) => (
          <li key={p}>
            <code>{p}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}
