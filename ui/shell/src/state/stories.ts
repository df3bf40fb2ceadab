import type { StateCreator } from "zustand";
import type { Event, ID } from "#base/domain/contracts.ts";
import { emptyStory, type Story, tell } from "#base/domain/story.ts";

/** Streaming text that is kept, in characters. */
const LIVE_KEPT = 8000;

/** The stories of the runs that were opened, and the text that streams in them. */
export interface StoriesSlice {
  stories: Readonly<Record<ID, Story>>;
  /** Events that came while a story was being read. */
  pending: Readonly<Record<ID, readonly Event[]>>;
  /** Streaming text by run and role, until the model has answered. */
  live: Readonly<Record<ID, Readonly<Record<string, string>>>>;
  /** A story is being read: new events of the run wait. */
  awaitStory(run: ID): void;
  /** All events of the run so far. */
  setStory(run: ID, events: readonly Event[]): void;
  tellStories(events: readonly Event[]): void;
  hear(run: ID, role: string, text: string): void;
}

export const storiesSlice: StateCreator<StoriesSlice> = (set) => ({
  stories: {},
  pending: {},
  live: {},
  awaitStory: (run) => set((s) => ({ pending: { ...s.pending, [run]: [] } })),
  setStory: (run, events) =>
    set((s) => {
      const { [run]: waiting = [], ...pending } = s.pending;
      return { pending, stories: { ...s.stories, [run]: [...events, ...waiting].reduce(tell, emptyStory(run)) } };
    }),
  tellStories: (events) => set((s) => events.reduce(tellOne, pick(s))),
  hear: (run, role, text) =>
    set((s) => {
      const mine = s.live[run] ?? {};
      return { live: { ...s.live, [run]: { ...mine, [role]: ((mine[role] ?? "") + text).slice(-LIVE_KEPT) } } };
    }),
});

type Part = Pick<StoriesSlice, "stories" | "pending" | "live">;

function pick({ stories, pending, live }: Part): Part {
  return { stories, pending, live };
}

function tellOne(s: Part, event: Event): Part {
  const run = event.run;
  if (!run) return s;
  const live = quiet(s.live, event);
  const waiting = s.pending[run];
  if (waiting) return { ...s, live, pending: { ...s.pending, [run]: [...waiting, event] } };
  const story = s.stories[run];
  return story ? { ...s, live, stories: { ...s.stories, [run]: tell(story, event) } } : { ...s, live };
}

// What streamed is in the log now, so it no longer stands beside it.
function quiet(live: Part["live"], event: Event): Part["live"] {
  const run = event.run;
  if (!run || !live[run]) return live;
  if (event.type === "run.finished") return { ...live, [run]: {} };
  // Its commands speak too, with no model to return.
  if (event.type === "task.returned") return { ...live, [run]: { ...live[run], associate: "" } };
  if (event.type !== "model.returned") return live;
  return { ...live, [run]: { ...live[run], [event.payload.caller]: "" } };
}
