import { useEffect, useRef } from "react";
import { markSaid } from "#base/domain/marksaid.ts";
import type { Mark } from "#base/domain/views.ts";
import { useWords } from "../../i18n/words";
import { Age } from "../../kit/Age";
import { words } from "./i18n";

interface MarkListProps {
  marks: readonly Mark[];
  place: number;
  hasEarlier: boolean;
  onMove(place: number): void;
  onEarlier(): void;
}

/** The marks in words, newest first. */
export function MarkList({ marks, place, hasEarlier, onMove, onEarlier }: MarkListProps) {
  const t = useWords(words);
  const list = useRef<HTMLOListElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever is chosen is brought into sight
  useEffect(() => {
    list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [place]);
  const newest = marks.map((mark, at) => ({ mark, at })).reverse();
  return (
    <nav className="timeline-marks scroll" aria-label={t("moments")}>
      <ol ref={list}>
        <li>
          <button
            type="button"
            className="timeline-mark"
            aria-current={place === marks.length ? "true" : undefined}
            onClick={() => onMove(marks.length)}
          >
            <span className="timeline-words">{t("now")}</span>
          </button>
        </li>
        {newest.map(({ mark, at }) => (
          <li key={mark.seq}>
            <button
              type="button"
              className="timeline-mark"
              data-kind={mark.kind}
              aria-current={at === place ? "true" : undefined}
              onClick={() => onMove(at)}
            >
              <span className="timeline-words">{markSaid(mark)}</span>
              <Age at={mark.at} />
            </button>
          </li>
        ))}
      </ol>
      {hasEarlier && (
        <button type="button" className="tool" onClick={onEarlier}>
          {t("earlier")}
        </button>
      )}
    </nav>
  );
}
