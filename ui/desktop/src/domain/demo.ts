import type { Event, Rect } from "#base/domain/contracts.ts";
import type { Story } from "#base/domain/story.ts";
import type { Area } from "./wmplace";

/** What a demo shows by itself, in its order. */
export type Cue = "trace" | "document" | "terminal" | "slider";

/** The file that the demo changes. */
export const demoFile = "workspace/tally/bin/tally";

/** What the demo's terminal says and does: the tests, then the finished program. */
export const demoTerminal = {
  title: "make test",
  cwd: (repo: string) => `workspace/${repo}`,
  keys: "make test && echo the cat the dog the bird | sh bin/tally --top 1\r",
};

/** The subjects of a demo's timeline: while it leads a person to its slider, and once they have been there. */
export const sliderOf = (run: string) => `demo:${run}`;
export const seenOf = (run: string) => `demo-seen:${run}`;

/** The run of such a subject, and whether a person is still to be led. */
export function demoOf(subject: string): { run?: string; leads: boolean } {
  const [, kind, run] = /^(demo|demo-seen):(.+)$/.exec(subject) ?? [];
  return { ...(run ? { run } : {}), leads: kind === "demo" };
}

/** Whether the timeline of a demo's end was opened, in this page or another, by the events since it began. */
export function isLed(events: readonly Event[], run: string): boolean {
  return events.some(
    (e) =>
      (e.type === "window.opened" || e.type === "window.retitled") &&
      (e.payload.subject === sliderOf(run) || e.payload.subject === seenOf(run)),
  );
}

/** What a demo that has come so far is to show. */
export function cuesOf(story: Story): Cue[] {
  const due: [cue: Cue, now: boolean][] = [
    ["trace", true],
    ["document", story.document !== undefined],
    ["terminal", story.tasks.some((task) => task.result?.status === "ok")],
    ["slider", story.state === "done"],
  ];
  return due.filter(([, now]) => now).map(([cue]) => cue);
}

/** Nothing but the prompt is known of it: it begins now. */
export function isFresh(story: Story): boolean {
  return story.plan === undefined && story.tasks.length === 0 && story.document === undefined;
}

/** Pixels between the windows of a demo, and below them for the line that tells of it. */
const GAP = 12;
const LINE = 84;

/** Where its windows go: the document beside the trace and the terminal, the timeline before them. */
export function placesOf(area: Area): Record<Cue, Rect> {
  const height = Math.max(240, area.height - LINE - GAP);
  const left = Math.round((area.width - 3 * GAP) * 0.44);
  const right = area.width - left - 3 * GAP;
  const x = left + 2 * GAP;
  const upper = Math.round((height - GAP) * 0.56);
  const wide = Math.min(1000, area.width - 2 * GAP);
  const tall = Math.min(height, Math.max(320, Math.round(height * 0.66)));
  return {
    document: { x: GAP, y: GAP, width: left, height: height - GAP },
    trace: { x, y: GAP, width: right, height: upper - GAP },
    terminal: { x, y: upper + GAP, width: right, height: height - upper - GAP },
    slider: { x: Math.round((area.width - wide) / 2), y: height - tall, width: wide, height: tall },
  };
}
