import type { Event, ID } from "#base/domain/contracts.ts";
import { emptyStory, type Story, tell } from "#base/domain/story.ts";

interface Parts {
  known(run: ID): Story | undefined;
  put(run: ID, story: Story): void;
  /** Events of the run after `seq`, at most `PAGE`. */
  read(run: ID, after: number): Promise<Event[]>;
}

/** How many events an answer has at most. */
export const PAGE = 1000;

/** Tells a story on, without what tools printed and documents say: no card shows it, and it may be megabytes. */
function add(story: Story, event: Event): Story {
  if (event.type === "tool.returned") return tell(story, { ...event, payload: { ...event.payload, output: "" } });
  if (event.type === "document.versioned") return tell(story, { ...event, payload: { ...event.payload, content: "" } });
  return tell(story, event);
}

/** Makes the stories of the runs that have a card: of what is in the log, and of what is heard meanwhile. */
export class Stories {
  private readonly parts: Parts;
  /** What was heard of the runs that are being read. */
  private readonly reading = new Map<ID, Event[]>();

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** Takes up an event that was heard; a run whose prompt is heard needs no reading. */
  hear(event: Event): void {
    if (!event.run) return;
    const waiting = this.reading.get(event.run);
    if (waiting) {
      waiting.push(event);
      return;
    }
    const story =
      this.parts.known(event.run) ?? (event.type === "prompt.submitted" ? emptyStory(event.run) : undefined);
    if (story) this.parts.put(event.run, add(story, event));
  }

  /** Reads a run whose beginning was not heard, once. A failed reading is begun anew when it is asked for again. */
  async read(run: ID): Promise<void> {
    if (this.parts.known(run) || this.reading.has(run)) return;
    this.reading.set(run, []);
    let story = emptyStory(run);
    try {
      for (let more = true; more; ) {
        const events = await this.parts.read(run, story.seq);
        story = events.reduce(add, story);
        more = events.length === PAGE;
      }
      this.parts.put(run, (this.reading.get(run) ?? []).reduce(add, story));
    } finally {
      this.reading.delete(run);
    }
  }
}
