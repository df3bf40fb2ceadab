import { type FormEvent, useEffect, useState } from "react";
import { Button } from "#base/kit/Button.tsx";
import { Dialog } from "#base/kit/Dialog.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { deskWords } from "../i18n/desk";
import { useWords } from "../i18n/words";
import { useSession } from "../session/session";
import { useStore } from "../state/store";
import "../kit/askname.css";

/** Asks what becomes of the text in a window that is to be closed. */
export default function Closing({ id }: { id: string }) {
  const { windows } = useSession();
  const t = useWords(deskWords);
  const unsaved = useStore((s) => s.unsaved.get(id));
  const setClosing = useStore((s) => s.setClosing);
  const want = useStore((s) => s.want);
  const [busy, setBusy] = useState(false);
  // Saved, or closed, in another browser meanwhile.
  useEffect(() => {
    if (!unsaved) setClosing(undefined);
  }, [unsaved, setClosing]);
  if (!unsaved) return null;
  const stay = () => {
    setClosing(undefined);
    want(id);
  };
  const close = () => {
    setClosing(undefined);
    windows.remove(id);
  };
  const save = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    try {
      if (await unsaved.save()) close();
      else stay();
    } catch (error) {
      notifyProblem(error);
      stay();
    }
  };
  const discard = () => {
    unsaved.discard();
    close();
  };
  return (
    <Dialog label={t("closingTitle", { name: unsaved.name })} className="ask-name" onClose={stay}>
      <form onSubmit={(e) => unawaited(save(e))}>
        <h2>{t("closingTitle", { name: unsaved.name })}</h2>
        <p>{t("closingMore")}</p>
        <div className="ask-name-buttons">
          <Button onClick={stay}>{t("closingCancel")}</Button>
          <Button onClick={discard}>{t("closingDiscard")}</Button>
          <Button look="primary" type="submit" data-first disabled={busy}>
            {t("closingSave")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
