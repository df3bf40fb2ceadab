// The script that a browser has fetched by the time the prompt accepts keys.
import { gzipSync } from "node:zlib";
import { openBrowser } from "./browser.js";
import { desktopOf, frameOf } from "./desktop.js";

/** What it may be, in bytes of gzip. */
export const BUDGET = 250_000;

/**
 * Measures a desktop that is opened by somebody who has never been here: script
 * of the shell and of the desktop, gzipped, that the browser had when the desktop's
 * prompt took keys, by the desktop's own clock. Then it types one, to see that it does.
 */
export async function measureScript(choir) {
  const { context, page, close } = await openBrowser({ stock: true });
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
    const sizes = await Promise.all(fetched.map(async (r) => gzipSync(await r.body()).length));
    return sizes.reduce((sum, n) => sum + n, 0);
  } finally {
    await close();
  }
}
