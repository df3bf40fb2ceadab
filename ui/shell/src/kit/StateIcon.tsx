import {
  Circle,
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CircleSlash,
  CircleX,
  LoaderCircle,
  PencilLine,
} from "lucide-react";
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
  partly: [CircleDashed, "unsure", "runs.partly"],
  not_done: [CircleSlash, "unsure", "runs.notDone"],
  failed: [CircleX, "bad", "runs.failed"],
  cancelled: [CircleSlash, "faint", "runs.cancelled"],
} as const;

/** A state that has an icon and a name. */
type Shown = RunState | StepState | "pending" | "partly" | "not_done";

/** How a run ended, or stands: one that is done in part only, or not, is not called done. */
export function endOf(state: RunState, status?: "partly" | "not_done"): RunState | "partly" | "not_done" {
  return state === "done" && status ? status : state;
}

/** What a state is called. */
export function stateName(state: Shown): string {
  return t(looks[state][2]);
}

/** A state as an icon with its name for assistive technology. */
export function StateIcon({ state, size = 16 }: { state: Shown; size?: number }) {
  const [Icon, look, name] = looks[state];
  return <Icon size={size} className={`state-icon state-${look}`} role="img" aria-label={t(name)} />;
}
