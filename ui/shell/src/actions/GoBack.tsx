import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { changeSaid } from "#base/domain/marksaid.ts";
import type { Rewound } from "#base/domain/views.ts";
import { Button } from "#base/kit/Button.tsx";
import { Dialog } from "#base/kit/Dialog.tsx";
import { notifyProblem } from "#base/kit/notify.ts";
import { unawaited } from "#base/kit/unawaited.ts";
import { terminalsEnd } from "../domain/sentence";
import { Files } from "../kit/DiffFiles";
import { useSession } from "../session/session";
import { useStore } from "../state/store";
import { t } from "../words/words";
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
      await session.rewind(seq, t("step.wentBack", { when }), onDone);
      onClose();
    } catch (error) {
      setBusy(false);
      notifyProblem(error);
    }
  };
  return (
    <Dialog label={t("step.goBack")} onClose={onClose}>
      <header className="confirm-head">
        <div>
          <h2>{t("step.goBackTo", { when })}</h2>
          <p>{t("step.forward")}</p>
        </div>
      </header>
      <div className="confirm-main scroll">
        {error && (
          <p role="alert" className="side-none">
            {error.message}
          </p>
        )}
        {!data && !error && <p className="side-none">{t("page.looking")}</p>}
        {data && (
          <>
            <Effects would={data} seq={seq} />
            <Files difference={data} folded none="" />
          </>
        )}
      </div>
      <footer className="confirm-foot">
        <Button onClick={onClose}>{t("page.cancel")}</Button>
        <Button look="primary" disabled={busy || !data} onClick={() => unawaited(go())}>
          {busy ? t("step.goingBack") : t("step.goBack")}
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
          ? t("step.noFile")
          : t(would.cut ? "step.moreFilesWill" : "step.filesWill", { n: would.files.length })}
      </li>
      {way?.documents.map((d) => (
        <li key={d.id}>
          {d.to === undefined
            ? t("step.documentGone", { title: d.title })
            : t("step.documentBack", { title: d.title, version: String(d.to) })}
        </li>
      ))}
      {way?.changes.map((change, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two windows may have one name
        <li key={i}>{changeSaid(change)}</li>
      ))}
      <li>{t("step.stays")}</li>
      {ends && <li className="effects-stop">{ends}</li>}
      {would.stopped?.map((id) => (
        <li key={id} className="effects-stop">
          {t("step.stops", { prompt: prompt(id) })}
        </li>
      ))}
    </ul>
  );
}
