// When the desktop shows itself, and how smoothly it moves.
import { setTimeout as sleep } from "node:timers/promises";
import { openBrowser, PATIENCE_MS } from "./browser.js";
import { desktopOf, frameOf } from "./desktop.js";
import { openWindow } from "./windows.js";

/**
 * Milliseconds from going to the address until the desktop in its frame has
 * painted something that is not blank, in a browser that was never here.
 */
export async function measurePaint(address) {
  const { page, close } = await openBrowser({ stock: true });
  try {
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(address);
    await desktopOf(page).locator("#prompt").waitFor();
    const began = await page.evaluate(() => performance.timeOrigin);
    const painted = await (await frameOf(page)).evaluate(
      () =>
        new Promise((done) => {
          new PerformanceObserver((list) => {
            const [first] = list.getEntriesByName("first-contentful-paint");
            if (first) done(performance.timeOrigin + first.startTime);
          }).observe({ type: "paint", buffered: true });
        }),
    );
    return painted - began;
  } finally {
    await close();
  }
}

/** The same of a page without a frame. */
export async function measureBarePaint(address) {
  const { page, close } = await openBrowser({ stock: true });
  try {
    await page.goto(address);
    await page.locator("#prompt").waitFor();
    return await page.evaluate(
      () =>
        new Promise((done) => {
          new PerformanceObserver((list) => {
            const [first] = list.getEntriesByName("first-contentful-paint");
            if (first) done(first.startTime);
          }).observe({ type: "paint", buffered: true });
        }),
    );
  } finally {
    await close();
  }
}

/**
 * Milliseconds from going to the address until a key that is pressed all the time
 * stands in a field, in a browser that was never here. Nobody has to choose the
 * field first.
 */
export async function measureFirstKey(address) {
  const { context, page, close } = await openBrowser({ stock: true });
  try {
    let stands;
    const at = new Promise((done) => {
      stands = done;
    });
    await context.exposeBinding("stands", (_, when) => stands(when));
    await context.addInitScript(() => {
      const hear = () => globalThis.stands(performance.timeOrigin + performance.now());
      addEventListener("input", hear, { capture: true, once: true });
    });
    const began = Date.now();
    let over = false;
    const gone = page.goto(address);
    const pressing = (async () => {
      await gone;
      while (!over) await page.keyboard.press("a");
    })();
    const when = await Promise.race([
      at,
      sleep(PATIENCE_MS, undefined, { ref: false }).then(() => Promise.reject(new Error("no key stood in a field"))),
    ]);
    over = true;
    await pressing;
    return when - began;
  } finally {
    await close();
  }
}

/** Lays ten windows of several apps out, and one more above them that is to be dragged; gives its id. */
export async function coverDesk(page) {
  const apps = [
    ["files", "workspace/"],
    ["settings", ""],
    ["timeline", ""],
    ["trace", ""],
    ["files", ""],
    ["writer", ""],
    ["code", ""],
    ["viewer", ""],
    ["files", "choiros/"],
    ["preview", ""],
  ];
  for (const [i, [app, subject]] of apps.entries()) {
    const bounds = { x: 60 + i * 70, y: 20 + i * 28, width: 520, height: 360 };
    const { win } = await openWindow(page, app, subject, bounds);
    await win.locator("[data-state=loading]").waitFor({ state: "detached" });
  }
  const { id, win } = await openWindow(page, "files", "workspace/", { x: 20, y: 12, width: 560, height: 380 });
  await win.locator(".title-text").click();
  await desktopOf(page).locator(`[data-window="${id}"][data-focused="true"]`).waitFor();
  return id;
}

/** Steps of the mouse over the whole desk and back. */
const STEPS = 60;

/**
 * Drags a window over all others and back; gives its longest frame and the tasks
 * of more than 50 ms, in milliseconds.
 */
export async function dragOver(page, id) {
  const frame = await frameOf(page);
  const grip = desktopOf(page).locator(`[data-window="${id}"] .title-grip`);
  const box = await grip.boundingBox();
  const from = { x: box.x + 60, y: box.y + box.height / 2 };
  await frame.evaluate(() => {
    const seen = { long: [], frames: [], last: undefined };
    seen.observer = new PerformanceObserver((list) => seen.long.push(...list.getEntries().map((e) => e.duration)));
    seen.observer.observe({ type: "longtask" });
    const tick = (at) => {
      if (seen.last !== undefined) seen.frames.push(at - seen.last);
      seen.last = at;
      seen.next = requestAnimationFrame(tick);
    };
    seen.next = requestAnimationFrame(tick);
    globalThis.seenOfDrag = seen;
  });
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (let i = 1; i <= STEPS; i++) {
    const part = 1 - Math.abs(1 - (2 * i) / STEPS);
    await page.mouse.move(from.x + 760 * part, from.y + 300 * part);
  }
  await page.mouse.up();
  const seen = await frame.evaluate(async () => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const { long, frames, observer, next } = globalThis.seenOfDrag;
    cancelAnimationFrame(next);
    long.push(...observer.takeRecords().map((e) => e.duration));
    observer.disconnect();
    return { long, frames };
  });
  if (seen.frames.length < 5) throw new Error(`only ${seen.frames.length} frames were drawn during the drag`);
  return { long: seen.long, longest: Math.max(...seen.frames) };
}
