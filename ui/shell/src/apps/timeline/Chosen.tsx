import { GitFork, History, TriangleAlert, Undo2 } from "lucide-react";
import { useState } from "react";
import { names } from "#base/domain/names.ts";
import type { Mark, Moment } from "#base/domain/views.ts";
import { named } from "#base/domain/words.ts";
import { Badge } from "#base/kit/Badge.tsx";
import { Button } from "#base/kit/Button.tsx";
import { GoBack } from "../../actions/GoBack";
import { Undo } from "../../actions/Undo";
import { changedWords, undoable, wordsOf } from "../../domain/marks";
import { bytes, whenWords } from "../../domain/time";
import { Sentence } from "../../kit/Sentence";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/late";
import { Fork } from "./Fork";

/** What happened at the moment below the slider, and what can be done about it. */
export function Chosen({ moment, mark, past }: { moment: Moment; mark: Mark | undefined; past: boolean }) {
  const session = useSession();
  const marks = useStore((s) => s.marks);
  const [open, setOpen] = useState<"back" | "fork" | "undo" | undefined>(() => {
    const { route } = useStore.getState();
    return past && route.page === "time" && route.back ? "back" : undefined;
  });
  const when = whenWords(mark?.at ?? moment.at, Date.now());
  const title = mark
    ? wordsOf(mark, marks, Date.now())
    : past
      ? moment.text || t("time.event", { seq: String(moment.seq) })
      : t("time.now");
  const seq = mark?.seq ?? moment.seq;
  const action = mark && undoable(mark);
  const close = () => setOpen(undefined);
  return (
    <header className="chosen">
      <h1>{title}</h1>
      <p className="chosen-facts">
        <span>{when}</span>
        {!moment.collected && <span>{t("time.filesBytes", { n: moment.files, bytes: bytes(moment.bytes) })}</span>}
        {mark && changedWords(mark) && <span>{changedWords(mark)}</span>}
        {mark?.checkpoint && (
          <Badge tone={mark.verified ? "good" : "unsure"}>
            {mark.verified ? t("time.verifiedCheckpoint") : t("time.unverifiedCheckpoint")}
          </Badge>
        )}
      </p>
      {mark?.withheld?.length ? <Withheld paths={mark.withheld} /> : null}
      <div className="chosen-acts">
        {past && (
          <Button look="primary" onClick={() => setOpen("back")}>
            <History size={15} aria-hidden /> {named(names.goBackToHere)}
          </Button>
        )}
        <Button onClick={() => setOpen("fork")}>
          <GitFork size={15} aria-hidden /> {named(names.forkFromHere)}
        </Button>
        {action && (
          <Button onClick={() => setOpen("undo")}>
            <Undo2 size={15} aria-hidden /> {t("step.undoThis")}
          </Button>
        )}
        {mark?.run && (
          <Button look="quiet" onClick={() => mark.run && session.go({ page: "run", run: mark.run })}>
            {t("time.openRun")}
          </Button>
        )}
      </div>
      {open === "back" && <GoBack seq={seq} when={when} onClose={close} />}
      {open === "fork" && <Fork seq={past ? seq : 0} when={past ? when : t("time.nowWord")} onClose={close} />}
      {open === "undo" && action && <Undo of={action} title={title} onClose={close} />}
    </header>
  );
}

/** Files that look like keys: kept here, kept out of what leaves. */
function Withheld({ paths }: { paths: readonly string[] }) {
  return (
    <p className="chosen-warning" role="note">
      <TriangleAlert size={15} aria-hidden />
      <span>
        <Sentence of="time.withheld" holes={{ paths: <Paths paths={paths} /> }} />
      </span>
    </p>
  );
}

/** The first of several paths, and how many more there are. */
function Paths({ paths }: { paths: readonly string[] }) {
  return (
    <>
      {paths.slice(0, 5).map((p, i) => (
        <span key={p}>
          {i > 0 && ", "}
          <code>{p}</code>
        </span>
      ))}
      {paths.length > 5 && t("time.withheldMore", { n: paths.length - 5 })}
    </>
  );
}
