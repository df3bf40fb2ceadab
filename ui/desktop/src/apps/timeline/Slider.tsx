import type { KeyboardEvent } from "react";
import type { Mark } from "#base/domain/views.ts";
import { useWords } from "../../i18n/words";
import { words } from "./i18n";
import { leap } from "./marks";

interface SliderProps {
  marks: readonly Mark[];
  /** Place of the chosen mark; `marks.length` is now. */
  place: number;
  /** What is chosen, in words. */
  says: string;
  onMove(place: number): void;
}

/** The places of the slider are the marks, its end is now. Arrows, Home and End are the browser's own. */
export function Slider({ marks, place, says, onMove }: SliderProps) {
  const t = useWords(words);
  const press = (e: KeyboardEvent) => {
    if (e.key !== "PageUp" && e.key !== "PageDown") return;
    e.preventDefault();
    onMove(leap(marks, place, e.key === "PageUp" ? 1 : -1));
  };
  return (
    <input
      type="range"
      className="timeline-slider"
      aria-label={t("moment")}
      aria-valuetext={says}
      data-autofocus
      min={0}
      max={marks.length}
      step={1}
      value={place}
      onChange={(e) => onMove(e.currentTarget.valueAsNumber)}
      onKeyDown={press}
    />
  );
}
