import { type KeyboardEvent, useEffect, useRef } from "react";
import { span } from "../../domain/time";
import type { Step, Trace } from "../../domain/trace";
import { useWords } from "../../i18n/words";
import { useStore } from "../../state/store";
import { words } from "./i18n";

/** The steps below each other, each with its time as a band. */
export function Steps(props: { trace: Trace; chosen: string | undefined; onChoose(id: string): void }) {
  const { trace, chosen, onChoose } = props;
  const t = useWords(words);
  const list = useRef<HTMLOListElement>(null);
  useFollowing(list, trace.steps, chosen !== undefined);
  const press = (e: KeyboardEvent) => {
    const by = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (!by) return;
    e.preventDefault();
    const buttons = [...(list.current?.querySelectorAll("button") ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const next = buttons[Math.max(0, Math.min(buttons.length - 1, at + by))];
    next?.focus();
    next?.click();
  };
  const depth = depthsOf(trace.steps);
  return (
    <ol className="trace-steps scroll" ref={list} aria-label={t("steps")} onKeyDown={press}>
      {trace.steps.map((step, i) => (
        <li key={step.id}>
          <Row
            step={step}
            depth={depth.get(step.id) ?? 0}
            whole={Math.max(1, trace.span)}
            chosen={step.id === chosen}
            first={i === 0}
            onChoose={() => onChoose(step.id)}
          />
        </li>
      ))}
    </ol>
  );
}

/** Pixels from the end at which somebody still looks at the newest step. */
const NEAR = 40;

/** Keeps the newest step of a run at work in view, until somebody scrolls back or looks at a step. */
function useFollowing(list: React.RefObject<HTMLOListElement | null>, steps: readonly Step[], chosen: boolean): void {
  const height = useRef(0);
  const going = steps.some((s) => s.to === undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each step that comes makes the list longer
  useEffect(() => {
    const box = list.current;
    if (!box) return;
    const atEnd = height.current - box.scrollTop - box.clientHeight < NEAR;
    if (going && atEnd && !chosen) box.scrollTop = box.scrollHeight;
    height.current = box.scrollHeight;
  }, [list, steps.length, going, chosen]);
}

function depthsOf(steps: readonly Step[]): Map<string, number> {
  const depths = new Map<string, number>();
  for (const s of steps) depths.set(s.id, s.parent ? (depths.get(s.parent) ?? 0) + 1 : 0);
  return depths;
}

interface RowProps {
  step: Step;
  depth: number;
  whole: number;
  chosen: boolean;
  first: boolean;
  onChoose(): void;
}

function Row({ step, depth, whole, chosen, first, onChoose }: RowProps) {
  const t = useWords(words);
  const language = useStore((s) => s.language);
  const to = step.to ?? whole;
  const took = step.to === undefined ? t("going") : span(step.to - step.from, language);
  return (
    <button
      type="button"
      className="trace-step"
      data-kind={step.kind}
      data-ok={step.ok}
      aria-pressed={chosen}
      data-autofocus={first || undefined}
      onClick={onChoose}
    >
      <span className="trace-kind" style={{ marginInlineStart: depth * 14 }}>
        {t(step.kind)}
      </span>
      <span className="trace-title">{step.title}</span>
      <span className="trace-took">
        {step.stopped ? `${t("stopped")} · ` : step.ok === false && <b>{t("failed")} · </b>}
        {took}
      </span>
      <span className="trace-band" aria-hidden>
        <i
          style={{
            insetInlineStart: `${(step.from / whole) * 100}%`,
            width: `max(3px, ${((to - step.from) / whole) * 100}%)`,
          }}
        />
      </span>
    </button>
  );
}
