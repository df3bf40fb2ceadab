import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useEffect } from "react";
import { Button } from "#base/kit/Button.tsx";
import { placeOf } from "../../domain/marks";
import { whenWords } from "../../domain/time";
import { Sentence } from "../../kit/Sentence";
import { useSession } from "../../session/session";
import { useStore } from "../../state/store";
import { t } from "../../words/late";
import { Band } from "./Band";
import { Chosen } from "./Chosen";
import { Then } from "./Then";
import { useMarks, useSeq, useSettled } from "./useTimeline";
import "./time.css";

/** How long the slider rests before the moment below it is read, in milliseconds. */
const REST_MS = 90;

/** The computer as it was at any moment, read only, and the way back to it. */
export default function Time() {
  const session = useSession();
  const marks = useMarks();
  const head = useStore((s) => s.marksHead);
  const seq = useSeq();
  const settled = useSettled(seq, REST_MS);
  useBackToNow();
  useEffect(() => {
    const address = session.addressOf(settled === undefined ? { page: "time" } : { page: "time", seq: settled });
    if (location.pathname.startsWith("/time")) history.replaceState(null, "", address);
  }, [settled, session]);
  const shown = settled ?? head;
  const moment = useQuery({
    queryKey: ["moment", shown],
    queryFn: () => session.api.moments.show(shown),
    enabled: shown > 0,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  });
  const place = seq === undefined ? -1 : placeOf(marks, seq);
  // The mark before the moment that is shown, which trails the slider while it moves.
  const before = moment.data && marks[placeOf(marks, moment.data.seq) - 1]?.seq;
  return (
    <section className="time" aria-label={t("time.label")}>
      <Banner at={marks[place]?.at} past={seq !== undefined} />
      <Band marks={marks} seq={seq} />
      {moment.error && (
        <p role="alert" className="time-none">
          {moment.error.message}
        </p>
      )}
      {moment.data && (
        <div className="time-body" aria-busy={moment.data.seq !== (seq ?? head)}>
          <Chosen moment={moment.data} mark={marks[place]} past={seq !== undefined} />
          <Then moment={moment.data} past={settled !== undefined} before={before} />
        </div>
      )}
    </section>
  );
}

/** Says whether the past is looked at, and leads out of it. */
function Banner({ at, past }: { at: string | undefined; past: boolean }) {
  const session = useSession();
  const words = at ? whenWords(at, Date.now()) : t("time.anEarlier");
  return (
    <div className={`time-banner ${past ? "time-past" : ""}`}>
      <p role="status">
        {past ? <Sentence of="time.lookingAt" holes={{ when: <strong>{words}</strong> }} /> : t("time.isNow")}
      </p>
      {past ? (
        <Button look="quiet" onClick={() => session.look(undefined)}>
          {t("time.toNow")} <kbd>{t("time.esc")}</kbd>
        </Button>
      ) : (
        <Button
          look="quiet"
          className="button-icon"
          aria-label={t("page.close")}
          onClick={() => session.go({ page: "runs" })}
        >
          <X size={17} aria-hidden />
        </Button>
      )}
    </div>
  );
}

/** Escape returns to now, unless something else is open to be closed. */
function useBackToNow(): void {
  const session = useSession();
  useEffect(() => {
    const press = (e: globalThis.KeyboardEvent) => {
      if (e.key !== "Escape" || e.defaultPrevented || document.querySelector("dialog[open]")) return;
      session.look(undefined);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [session]);
}
