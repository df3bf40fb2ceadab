import { expect, it } from "vitest";
import type { Event } from "#base/domain/contracts.ts";
import type { Story } from "#base/domain/story.ts";
import { event, RUN } from "#base/domain/testing.ts";
import { PAGE, Stories } from "./stories";

const of = { run: RUN };
const began = event(1, "prompt.submitted", { text: "Please" }, of);
const note = (seq: number) => event(seq, "steering.submitted", { text: `${seq}` }, of);

function stories(log: Event[], meanwhile: () => void = () => {}) {
  const known: Record<string, Story> = {};
  const reads: number[] = [];
  const made = new Stories({
    known: (run) => known[run],
    put: (run, story) => {
      known[run] = story;
    },
    read: async (_, after) => {
      reads.push(after);
      meanwhile();
      return log.filter((e) => e.seq > after).slice(0, PAGE);
    },
  });
  return { made, known, reads };
}

it("tells a run from its prompt on, without reading", async () => {
  const { made, known, reads } = stories([]);
  made.hear(began);
  made.hear(note(2));
  await made.read(RUN);
  expect([known[RUN]?.prompt, known[RUN]?.steering.length, reads]).toEqual(["Please", 1, []]);
});

it("reads a long run page by page, and misses nothing of what is heard meanwhile", async () => {
  const log = [began, ...Array.from({ length: PAGE + 10 }, (_, i) => note(i + 2))];
  const { made, known, reads } = stories(log, () => made.hear(note(5000)));
  await made.read(RUN);
  expect(known[RUN]?.steering).toHaveLength(PAGE + 11);
  expect(reads).toEqual([0, PAGE]);
  await made.read(RUN);
  expect(reads).toHaveLength(2);
});

it("knows nothing of a run that nobody asked about", () => {
  const { made, known } = stories([]);
  made.hear(note(7));
  expect(known).toEqual({});
});
