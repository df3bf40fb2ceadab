// The script that a browser has fetched by the time the prompt accepts keys.
import { gzipSync } from "node:zlib";
import { openBrowser } from "./browser.js";
import { desktopOf, frameOf } from "./desktop.js";

/** What it may be, in bytes of gzip. */
export const BUDGET = 250_000;

/** In how many files it may come: each further one delays the first paint by a request. */
export const FILES = 24;

/** The bytes of that script, in sum. */
export async function measureScript(choir) {
  return (await scriptFiles(choir)).reduce((sum, n) => sum + n, 0);
}

/**
 * Measures a desktop that is opened by somebody who has never been here: the files of
 * script of the shell and of the desktop, in bytes of gzip each, that the browser had when
 * the desktop's prompt took keys, by the desktop's own clock. Then it types one, to see
 * that it does.
 */
export async function scriptFiles(choir) {
  const { context, page, close } = await openBrowser();
  try {
    const scripts = [];
    context.on("response", (response) => {
      if (response.request().resourceType() === "script") scripts.push(response);
    });
    await page.goto(choir.login);
    const prompt = desktopOf(page).locator("#prompt");
    await prompt.pressSequentially("a");
    const ready = await (await frameOf(page)).evaluate(
      () => performance.timeOrigin + performance.getEntriesByName("prompt-ready")[0].startTime,
    );
    await Promise.all(scripts.map((response) => response.finished()));
    const fetched = scripts.filter((response) => {
      const { startTime, responseEnd } = response.request().timing();
      return startTime + responseEnd <= ready;
    });
    return await Promise.all(fetched.map(async (r) => gzipSync(await r.body()).length));
  } finally {
    await close();
  }
}
