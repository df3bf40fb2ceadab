import { GitFork, History, Undo2 } from "lucide-react";
import { useEffect, useState } from "react";
import { markSaid } from "#base/domain/marksaid.ts";
import { demoFile, demoOf, seenOf } from "../../domain/demo";
import { useWords } from "../../i18n/words";
import { Empty, Loading, Trouble } from "../../kit/States";
import { useAge } from "../../kit/useAge";
import { useWindow } from "../../session/useWindow";
import { tellShell } from "../../transport/shell";
import { Hint } from "./Hint";
import { words } from "./i18n";
import { MarkList } from "./MarkList";
import { placeOf } from "./marks";
import { Since } from "./Since";
import { Slider } from "./Slider";
import { Then } from "./Then";
import { useMarks, useSettled } from "./useMarks";
import "./timeline.css";

/** When so few marks are left before the chosen one, earlier ones are read. */
const NEAR = 3;

/** The computer as it was, and what is different now; it changes nothing. */
export default function Timeline() {
  const { subject, show } = useWindow();
  const t = useWords(words);
  const { marks, head, error, retry, hasEarlier, earlier } = useMarks();
  const [seq, setSeq] = useState(() => momentOf(subject));
  const [look, setLook] = useState<"was" | "since">("was");
  const shown = useSettled(seq);
  const now = marks?.length ?? 0;
  const place = !marks || seq === undefined ? now : Math.max(0, placeOf(marks, seq));
  const mark = seq === undefined ? undefined : marks?.[place];
  const when = useAge(mark?.at);
  useEffect(() => {
    if (now > 0 && place < NEAR) earlier();
  });
  if (error && !marks) return <Trouble error={error} onAgain={retry} />;
  if (!marks) return <Loading />;
  if (now === 0) {
    return (
      <Empty icon={<History size={38} strokeWidth={1.4} aria-hidden />} title={t("empty")}>
        {t("emptyMore")}
      </Empty>
    );
  }
  const what = mark ? markSaid(mark) : t("now");
  const says = mark ? t("placeOf", { what, when, place: place + 1, all: now }) : what;
  const demo = demoOf(subject);
  const led = () => demo.leads && demo.run && show(seenOf(demo.run));
  const move = (to: number) => {
    setSeq(marks[to]?.seq);
    led();
  };
  const toShell = () => tellShell({ kind: "open", page: "timeline", ...(seq === undefined ? {} : { seq }) });
  return (
    <div className="app timeline">
      <div className="timeline-band">
        <Slider marks={marks} place={place} says={says} onMove={move} />
        {demo.leads && <Hint onClose={led} />}
      </div>
      <div className="app-tools">
        <p className="timeline-what" title={what}>
          <b>{what}</b> {when && <span>{when}</span>}
        </p>
        <fieldset className="timeline-looks">
          <legend className="visually-hidden">{t("look")}</legend>
          {(["was", "since"] as const).map((l) => (
            <button key={l} type="button" className="tool" aria-pressed={look === l} onClick={() => setLook(l)}>
              {t(l)}
            </button>
          ))}
        </fieldset>
        <button type="button" className="tool" title={t("inShell")} disabled={!mark} onClick={toShell}>
          <Undo2 size={16} aria-hidden /> {t("goThere")}
        </button>
        <button type="button" className="tool" title={t("inShell")} disabled={!mark} onClick={toShell}>
          <GitFork size={16} aria-hidden /> {t("fork")}
        </button>
      </div>
      <div className="timeline-body">
        <MarkList marks={marks} place={place} hasEarlier={hasEarlier} onMove={move} onEarlier={earlier} />
        {look === "was" ? <Then seq={shown ?? head} file={demo.run && demoFile} /> : <Since seq={shown} />}
      </div>
    </div>
  );
}

/** The event of a subject `moment:<seq>`. */
function momentOf(subject: string): number | undefined {
  const seq = Number(/^moment:([1-9]\d{0,15})$/.exec(subject)?.[1]);
  return seq > 0 ? seq : undefined;
}
