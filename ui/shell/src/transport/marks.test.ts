import { expect, it } from "vitest";
import type { Mark } from "#base/domain/views.ts";
import { mergeMarks } from "../domain/mergemarks";
import { MarksReader } from "./marks";

/** A server with marks at 1 to `last`, and what the page knows of them. */
function world(last: number) {
  const it = { last, reads: [] as string[], known: [] as Mark[], more: false, fail: false, wake: [] as (() => void)[] };
  const reader = new MarksReader({
    read: async (limit, before) => {
      it.reads.push(`${limit} before ${before}`);
      if (it.fail) throw new Error("away");
      const newest = before === 0 ? it.last : before - 1;
      const marks = Array.from({ length: Math.min(limit, newest) }, (_, i) => ({ seq: newest - i }) as Mark);
      return { marks, head: it.last };
    },
    known: () => ({ marks: it.known, more: it.more }),
    add: (read, _head, more, newest) => {
      it.known = mergeMarks(it.known, read, newest);
      it.more = more;
    },
    sleep: () => new Promise((done) => it.wake.push(done)),
  });
  return { it, reader };
}

const settle = () => new Promise((done) => setTimeout(done, 0));

it("reads the newest page once, and earlier ones when asked", async () => {
  const { it, reader } = world(1200);
  await Promise.all([reader.begin(), reader.begin()]);
  expect([it.known.length, it.more, it.reads.length]).toEqual([500, true, 1]);
  await reader.earlier();
  await reader.earlier();
  expect([it.known.length, it.more]).toEqual([1200, false]);
  await reader.earlier();
  expect(it.reads).toHaveLength(3);
});

it("reads the end once for many events, until it meets what is known", async () => {
  const { it, reader } = world(700);
  await reader.begin();
  it.last = 820;
  for (let n = 0; n < 9; n++) reader.hear("snapshot.taken");
  reader.hear("model.called");
  expect(it.wake).toHaveLength(1);
  it.wake.shift()?.();
  await settle();
  expect(it.known.map((m) => m.seq)).toEqual(Array.from({ length: 620 }, (_, i) => i + 201));
  expect(it.more).toBe(true);
});

it("hears nothing before it began, and goes on after a failure", async () => {
  const { it, reader } = world(3);
  reader.hear("prompt.submitted");
  expect(it.wake).toHaveLength(0);
  it.fail = true;
  await expect(reader.begin()).rejects.toThrow("away");
  it.fail = false;
  await reader.begin();
  it.fail = true;
  reader.hear("run.finished");
  it.wake.shift()?.();
  await settle();
  it.fail = false;
  it.last = 4;
  reader.hear("run.finished");
  it.wake.shift()?.();
  await settle();
  expect(it.known.map((m) => m.seq)).toEqual([1, 2, 3, 4]);
});
