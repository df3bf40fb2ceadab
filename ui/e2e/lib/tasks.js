// How long a page does nothing else.
import { frameOf } from "./desktop.js";
import { within } from "./limits.js";

/** No task may take as long, in milliseconds: a person feels 200, and machines that test are busy. */
export const HELD_MS = 400;

/** Watches for tasks that hold up a page from now on; gives what tells the longest so far, in milliseconds. */
export async function watchTasks(frame) {
  await frame.evaluate(() => {
    const held = { longest: 0 };
    const note = (entries) => {
      for (const { duration } of entries) held.longest = Math.max(held.longest, duration);
    };
    held.watch = new PerformanceObserver((list) => note(list.getEntries()));
    held.watch.observe({ entryTypes: ["longtask"] });
    held.note = note;
    globalThis.held = held;
  });
  return () =>
    frame.evaluate(async () => {
      // A task is told of once it is over.
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      globalThis.held.note(globalThis.held.watch.takeRecords());
      return globalThis.held.longest;
    });
}

/**
 * Does something up to three times, until no task of it held up the page for HELD_MS. Gives the longest task of the
 * best time, in milliseconds: what the page itself does comes each time, what else the machine does comes and goes.
 */
export async function leastHeld(frame, act) {
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < 3 && least >= HELD_MS; n++) {
    const longest = await watchTasks(frame);
    await act(n);
    least = Math.min(least, await longest());
  }
  return least;
}

/**
 * Does something up to three times, until no task of the desktop's page took `limit` milliseconds of the processor.
 * Gives the longest task of the best time. What else the machine does is no part of it, but makes each task slower.
 * @param {{ before(): Promise<unknown>, act(): Promise<unknown>, after(): Promise<unknown> }} does
 */
export async function leastWorked(page, limit, { before, act, after }) {
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < 3 && least >= limit; n++) {
    await before();
    least = Math.min(least, await longestWork(page, act));
    await after();
  }
  return least;
}

const traced = ["toplevel", "disabled-by-default-devtools.timeline", "blink.user_timing"];

/** The longest task of the desktop's page while something is done, in milliseconds of the processor. */
async function longestWork(page, act) {
  const session = await page.context().newCDPSession(page);
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  const frame = await frameOf(page);
  await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: traced } });
  const ended = new Promise((done) => session.once("Tracing.tracingComplete", done));
  try {
    // It says which thread the page has.
    await frame.evaluate(() => performance.mark("work-begins"));
    await act();
    await frame.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  } finally {
    await session.send("Tracing.end");
    await within(ended, "the end of a trace");
    await session.detach();
  }
  const begins = events.find((e) => e.name === "work-begins");
  const tasks = events.filter(
    (e) =>
      e.name.endsWith("RunTask") && e.ph === "X" && e.pid === begins.pid && e.tid === begins.tid && e.ts > begins.ts,
  );
  // Chromium leaves a number of zero microseconds out.
  const longest = Math.max(...tasks.map((e) => (e.tdur ?? 0) / 1000));
  if (!(longest > 0)) throw new Error(`the trace says of none of ${tasks.length} tasks how long it worked`);
  return longest;
}
