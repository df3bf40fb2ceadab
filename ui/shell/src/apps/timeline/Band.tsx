import { type CSSProperties, type KeyboardEvent, memo, useEffect, useMemo } from "react";
import type { Language } from "#base/domain/language.ts";
import type { Mark } from "#base/domain/views.ts";
import { useLanguage } from "#base/kit/language.ts";
import { notifyProblem } from "#base/kit/notify.ts";
import { bandOf } from "../../domain/band";
import { leap, placeOf, wordsOf } from "../../domain/marks";
import { whenWords } from "../../domain/time";
import { useSession } from "../../session/session";
import { t } from "../../words/late";
import "./band.css";

/** Ticks drawn at most. */
const COLUMNS = 240;

/** When so few marks are left before the chosen one, earlier ones are read. */
const NEAR = 3;

/** The history as a band with a slider: its places are the marks, its end is now. */
export function Band({ marks, seq }: { marks: readonly Mark[]; seq: number | undefined }) {
  const session = useSession();
  const now = marks.length;
  const place = seq === undefined ? now : Math.max(0, placeOf(marks, seq));
  const mark = marks[place];
  const move = (to: number) => session.look(marks[to]?.seq);
  useEffect(() => {
    if (now > 0 && place < NEAR) session.marks.earlier().catch(notifyProblem);
  }, [place, now, session]);
  const press = (e: KeyboardEvent) => {
    if (e.key !== "PageUp" && e.key !== "PageDown") return;
    e.preventDefault();
    move(leap(marks, place, e.key === "PageUp" ? 1 : -1));
  };
  const words = mark
    ? t("time.placeOf", {
        when: whenWords(mark.at, Date.now()),
        what: wordsOf(mark, marks, Date.now()),
        place: String(place + 1),
        all: String(now),
      })
    : t("time.now");
  return (
    <div className="band" style={{ "--place": now === 0 ? 1 : place / now } as CSSProperties}>
      <Drawing marks={marks} language={useLanguage()} />
      <input
        type="range"
        className="band-slider"
        aria-label={t("time.moment")}
        aria-valuetext={words}
        min={0}
        max={Math.max(1, now)}
        step={1}
        value={now === 0 ? 1 : place}
        onChange={(e) => move(e.currentTarget.valueAsNumber)}
        onKeyDown={press}
      />
    </div>
  );
}

const percent = (part: number) => `${(part * 100).toFixed(3)}%`;

/** What lies below the slider, for the eye. */
const Drawing = memo(function Drawing({ marks, language }: { marks: readonly Mark[]; language: Language }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: its labels follow the language
  const band = useMemo(() => bandOf(marks, COLUMNS, Date.now()), [marks, language]);
  return (
    <div className="band-drawing" aria-hidden>
      <div className="band-seen" />
      {band.spans.map((s) => (
        <span
          key={`${s.run} ${s.from}`}
          className="band-span"
          style={{ left: percent(s.from), width: percent(s.to - s.from) }}
        />
      ))}
      {band.ticks.map((t) => (
        <span key={t.at} className={`band-tick band-${t.kind}`} style={{ left: percent(t.at) }} />
      ))}
      {band.labels.map((l) => (
        <span key={l.at} className={`band-label ${l.at > 0 ? "band-between" : ""}`} style={{ left: percent(l.at) }}>
          {l.text}
        </span>
      ))}
      <span className="band-label band-now">{t("time.now")}</span>
    </div>
  );
});
