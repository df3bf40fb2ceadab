// What waits gives up in time, and says what it waited for.
import { setTimeout as pause } from "node:timers/promises";
import { chromium } from "playwright-core";

/** How long anything may take to appear, in milliseconds. */
export const PATIENCE_MS = 30_000;

/** How long a call of the browser may take that has no limit of its own, in milliseconds. */
export const limits = { call: 90_000 };

/** How long passes between two looks at one thing, in milliseconds: each frame would have the page busy with the looking. */
const LOOK_AGAIN_MS = 50;

/** How long is waited for what a page shows, once something else was waited for in vain. */
const LOOK_MS = 3_000;

/** Waits for a promise; throws an error that names what was waited for when that takes too long. */
export async function within(promise, what, ms = PATIENCE_MS) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`waited ${ms / 1000} s in vain: ${what}`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Looks again and again until something holds, and gives it; throws an error that shows the page otherwise.
 * What is waited for is said in words, or by a function that is asked at the end.
 */
export async function untilHolds(page, holds, what, ms = PATIENCE_MS) {
  for (const end = performance.now() + ms; ; await pause(LOOK_AGAIN_MS)) {
    const held = await holds();
    if (held) return held;
    if (performance.now() <= end) continue;
    const said = typeof what === "function" ? what() : what;
    throw new Error(`waited ${ms / 1000} s in vain: ${said}\n${await shown([page])}`);
  }
}

/**
 * Does something up to five times, until it takes less than a limit in milliseconds, and gives how long the fastest
 * took. A machine that does much else is slow now and then; what is slow by itself is slow each time.
 */
export async function fastest(limit, act) {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 5 && best >= limit; i++) best = Math.min(best, await act());
  return best;
}

/** Describes what pages show, the frame with the desktop included, each within a limit. */
async function shown(pages) {
  const lines = [];
  for (const page of pages) {
    for (const frame of page.frames()) {
      const text = frame.evaluate(() => document.body.innerText.slice(0, 1500));
      const said = await within(text, "an answer of the page", LOOK_MS).then(JSON.stringify, (e) => e.message);
      lines.push(`the page ${frame.url()} shows ${said}`);
    }
  }
  return lines.join("\n");
}

/** Gives the open pages that an object of Playwright belongs to, or is. */
function pagesOf(object) {
  for (let up = object; up; up = up._parent) {
    if (up._type === "Page") return [up];
    if (up._type === "BrowserContext") return up.pages();
  }
  return [];
}

/**
 * Gives each call of a browser a limit. Playwright has one for what it waits for itself, such as an element, and none
 * for a function in a page, a key, a session or a closing: in a page that does not answer, these would wait for ever.
 */
function limitCalls() {
  const connection = chromium._connection;
  const send = connection.sendMessageToServer.bind(connection);
  connection.sendMessageToServer = async (object, method, params, options) => {
    if (options.timeout || method === "__waitInfo__") return send(object, method, params, options);
    const what = `${options.apiName ?? `${object._type}.${method}`} ${params?.expression?.slice(0, 200) ?? ""}`;
    const call = send(object, method, params, options);
    call.catch(() => {}); // after the limit nobody hears of it
    try {
      return await within(call, what, limits.call);
    } catch (error) {
      if (error.message.startsWith("waited ")) error.message += `\n${await shown(pagesOf(object))}`;
      throw error;
    }
  };
}

limitCalls();
