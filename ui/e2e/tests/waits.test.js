// No wait of a test is for ever: each ends with a sentence that says what the page shows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openBrowser, noBrowser as skip } from "../lib/browser.js";
import { limits, untilHolds } from "../lib/limits.js";

/** Tells what an act was refused with, and after how many milliseconds. */
async function refusal(act) {
  const began = performance.now();
  const error = await act().then(
    () => assert.fail("it did not wait"),
    (e) => e,
  );
  return { said: error.message, took: performance.now() - began };
}

test("what never ends in a page is given up, and says what the page shows", { skip }, async () => {
  const { page, close } = await openBrowser();
  const { call } = limits;
  try {
    await page.setContent("<p>All that there is</p>");
    limits.call = 1_000;
    const [never, still] = await Promise.all([
      refusal(() => page.evaluate(() => new Promise(() => {}))),
      refusal(() => untilHolds(page, () => false, "something that never is", 500)),
    ]);
    assert.ok(never.took >= 900 && never.took < 20_000, `it took ${never.took} ms`);
    assert.match(never.said, /page\.evaluate.*new Promise.*\n.*shows "All that there is"/);
    assert.match(still.said, /in vain: something that never is\n.*shows "All that there is"/);
  } finally {
    limits.call = call;
    await close();
  }
});
