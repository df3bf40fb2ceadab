// The script that a browser has fetched by the time the prompt accepts keys.
import { gzipSync } from "node:zlib";
import { openBrowser } from "./browser.js";
import { desktopOf } from "./desktop.js";

/** What it may be, in bytes of gzip. */
export const BUDGET = 250 * 1024;

/**
 * Measures a desktop that is opened by somebody who has never been here: script
 * of the shell and of the desktop, gzipped, until what is typed is in the prompt.
 */
export async function measureScript(choir) {
  const { context, page, close } = await openBrowser();
  try {
    const scripts = [];
    context.on("response", (response) => {
      if (response.request().resourceType() === "script") scripts.push(response);
    });
    await page.goto(choir.login);
    const prompt = desktopOf(page).locator("#prompt");
    await prompt.pressSequentially("a");
    const fetched = scripts.slice();
    const sizes = await Promise.all(fetched.map(async (r) => gzipSync(await r.body()).length));
    return sizes.reduce((sum, n) => sum + n, 0);
  } finally {
    await close();
  }
}
