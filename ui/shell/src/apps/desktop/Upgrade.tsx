import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "#base/kit/Button.tsx";
import { Dialog } from "#base/kit/Dialog.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { byFate, type Upgrade as Plan } from "../../domain/source";
import { Ends } from "../../kit/Ends";
import { useSession } from "../../session/session";
import { t } from "../../words/words";
import "../../kit/confirm.css";
import "../../kit/sidenone.css";

/** Says what an upgrade of the desktop's source would change and what is in conflict, then does it. */
export default function Upgrade({ onClose }: { onClose(): void }) {
  const session = useSession();
  const [busy, setBusy] = useState(false);
  const { data, error } = useQuery({
    queryKey: ["upgrade"],
    queryFn: () => session.api.upgrade(true),
    gcTime: 0,
    retry: false,
  });
  const upgrade = async () => {
    setBusy(true);
    try {
      await session.upgradeDesktop();
      onClose();
    } catch (error) {
      setBusy(false);
      notifyProblem(error);
    }
  };
  return (
    <Dialog label={t("desktop.upgrade")} onClose={onClose}>
      <header className="confirm-head">
        <div>
          <h2>{t("desktop.upgradeQuestion")}</h2>
          <p>{t("desktop.upgradeMore")}</p>
        </div>
      </header>
      <div className="confirm-main scroll">
        {error && (
          <p role="alert" className="side-none">
            {error.message}
          </p>
        )}
        {!data && !error && <p className="side-none">{t("page.looking")}</p>}
        <Ends terminals={data?.terminals} />
        {data && <Fates files={data.files} />}
      </div>
      <footer className="confirm-foot">
        <Button onClick={onClose}>{t("page.cancel")}</Button>
        <Button look="primary" disabled={busy || !data} onClick={() => unawaited(upgrade())}>
          {busy ? t("desktop.upgrading") : t("desktop.upgradeNow")}
        </Button>
      </footer>
    </Dialog>
  );
}

/** The files of an upgrade, what conflicts first and open. */
function Fates({ files }: { files: Plan["files"] }) {
  return (
    <div className="upgrade-fates">
      {byFate(files).map(({ fate, words, paths }) => (
        <details key={fate} open={fate === "conflict"}>
          <summary>{t("desktop.fate", { fate: t(words), n: paths.length })}</summary>
          <ul>
            {paths.map((path) => (
              <li key={path}>
                <code>{path}</code>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </div>
  );
}
