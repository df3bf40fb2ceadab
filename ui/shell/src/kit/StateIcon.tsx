import { Circle, CircleCheck, CircleHelp, CircleSlash, CircleX, LoaderCircle, PencilLine } from "lucide-react";
import type { StepState } from "#base/domain/plan.ts";
import type { RunState } from "#base/domain/views.ts";
import "./stateicon.css";

const looks = {
  planning: [PencilLine, "accent", "Planning"],
  running: [LoaderCircle, "accent spin", "Running"],
  working: [LoaderCircle, "accent spin", "Working"],
  judging: [LoaderCircle, "accent spin", "Being judged"],
  revising: [PencilLine, "unsure", "To be corrected"],
  waiting: [CircleHelp, "unsure", "Waiting for you"],
  pending: [Circle, "faint", "Not begun"],
  done: [CircleCheck, "good", "Done"],
  failed: [CircleX, "bad", "Failed"],
  cancelled: [CircleSlash, "faint", "Stopped"],
} as const;

/** What a state is called. */
export function stateName(state: RunState | StepState | "pending"): string {
  return looks[state][2];
}

/** A state as an icon with its name for assistive technology. */
export function StateIcon({ state, size = 16 }: { state: RunState | StepState | "pending"; size?: number }) {
  const [Icon, look, name] = looks[state];
  return <Icon size={size} className={`state-icon state-${look}`} role="img" aria-label={name} />;
}
