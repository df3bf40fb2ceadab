import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { names } from "#base/domain/names.ts";
import type { Checkpoint } from "#base/domain/views.ts";
import { named } from "#base/domain/words.ts";
import { Button } from "#base/kit/Button.tsx";
import { FixIt } from "../../actions/FixIt";
import { GoBack } from "../../actions/GoBack";
import type { Source } from "../../domain/source";
import { clock } from "../../domain/time";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/late";
import "./recover.css";

/** Ways out when the desktop does not work: begin anew, go back, or do without. */
export default function Recover() {
  const session = useSession();
  const frame = useStore((s) => s.frame);
  const source = useStore((s) => s.source);
  const computer = useStore((s) => s.computer?.id);
  const reopen = () => {
    useStore.getState().reopen();
    session.go({ page: "desktop" });
  };
  const { data = [], isPending } = useQuery({
    queryKey: ["checkpoints", computer],
    queryFn: () => session.api.checkpoints(),
    gcTime: 0,
  });
  return (
    <div className="recover scroll">
      <div className="recover-inner">
        <h1>{t("recover.title")}</h1>
        <p>{frame === "silent" ? t("recover.silent") : t("recover.answers")}</p>
        {source && <Trouble source={source} />}
        <section aria-label={t("recover.ways")}>
          <Button look="primary" onClick={reopen}>
            {t("recover.openAgain")}
          </Button>
          <FixIt />
          <Button onClick={() => session.go({ page: "runs" })}>{t("recover.goOn", { runs: named(names.runs) })}</Button>
          <Button onClick={() => session.go({ page: "time" })}>{t("recover.chooseMoment")}</Button>
        </section>
        <h2>{t("recover.toCheckpoint")}</h2>
        {data.length === 0 && <p>{isPending ? t("recover.searching") : t("recover.none")}</p>}
        <ul className="recover-list" aria-label={t("recover.list")}>
          {data.map((c, i) => (
            <Row key={c.id} checkpoint={c} last={i === data.findIndex((d) => d.verified)} onDone={reopen} />
          ))}
        </ul>
      </div>
    </div>
  );
}

/** What broke of the source, as the server that runs now says it, else as the log has it. */
function Trouble({ source: { error, file, remedy, broke } }: { source: Source }) {
  const lines = error
    ? [file, error, remedy]
    : [
        broke?.line ? t("recover.line", { file: broke.file ?? "", n: String(broke.line) }) : broke?.file,
        broke?.message,
      ];
  const said = lines.filter(Boolean).join("\n");
  return said ? (
    <pre className="recover-error" role="alert">
      {said}
    </pre>
  ) : null;
}

function Row({ checkpoint, last, onDone }: { checkpoint: Checkpoint; last: boolean; onDone(): void }) {
  const [asking, setAsking] = useState(false);
  const when = clock(checkpoint.at);
  return (
    <li>
      <span className="recover-subject">{checkpoint.subject}</span>
      <small>
        {when}
        {last ? t("recover.lastGood") : checkpoint.verified ? t("recover.verified") : ""}
      </small>
      <Button look={last ? "primary" : "plain"} onClick={() => setAsking(true)}>
        {t("step.goBack")}
      </Button>
      {asking && <GoBack seq={checkpoint.seq} when={when} onClose={() => setAsking(false)} onDone={onDone} />}
    </li>
  );
}
