import { Circle, CircleCheck, CircleHelp, CircleSlash, CircleX, LoaderCircle, PencilLine } from "lucide-react";
import type { StepState } from "#base/domain/plan.ts";
import type { RunState } from "#base/domain/views.ts";
import { t } from "../words/late";
import "./stateicon.css";

const looks = {
  planning: [PencilLine, "accent", "runs.planning"],
  running: [LoaderCircle, "accent spin", "runs.running"],
  working: [LoaderCircle, "accent spin", "runs.working"],
  judging: [LoaderCircle, "accent spin", "runs.judging"],
  revising: [PencilLine, "unsure", "runs.revising"],
  waiting: [CircleHelp, "unsure", "runs.waiting"],
  pending: [Circle, "faint", "runs.pending"],
  done: [CircleCheck, "good", "runs.done"],
  failed: [CircleX, "bad", "runs.failed"],
  cancelled: [CircleSlash, "faint", "runs.cancelled"],
} as const;

/** What a state is called. */
export function stateName(state: RunState | StepState | "pending"): string {
  return t(looks[state][2]);
}

/** A state as an icon with its name for assistive technology. */
export function StateIcon({ state, size = 16 }: { state: RunState | StepState | "pending"; size?: number }) {
  const [Icon, look, name] = looks[state];
  return <Icon size={size} className={`state-icon state-${look}`} role="img" aria-label={t(name)} />;
}
