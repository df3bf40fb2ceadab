import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openBrowser, PATIENCE_MS } from "../lib/browser.js";
import { frameOf } from "../lib/desktop.js";
import { startLink } from "../lib/link.js";
import { rig, skip } from "../lib/rig.js";
import { desktopAPI, desktopOf, known, openWindow, writeFile } from "../lib/windows.js";

const it = rig({ desktop: true });
const FILE = "workspace/behind/birds.txt";
const HOUR_MS = 3_600_000;
const editor = (page) => desktopOf(page).locator('[data-app="code"] .cm-content');
const shows = (page, words) => editor(page).filter({ hasText: words }).waitFor();
let link;
let behind;

after(async () => {
  await behind?.close();
  await link?.stop();
});

/** Runs in a page before anything of it: its clock is so far behind. */
function turnBack(by) {
  const Now = Date;
  globalThis.Date = class extends Now {
    constructor(...given) {
      if (given.length > 0) super(...given);
      else super(Now.now() - by);
    }
    static now() {
      return Now.now() - by;
    }
  };
}

/** Many changes, as they come in an hour. */
async function aBusyHour(page) {
  await (await frameOf(page)).evaluate(async () => {
    const settings = `/api/computers/${location.host.split(".")[0]}/settings`;
    for (let n = 0; n < 400; n++) {
      const body = JSON.stringify({ key: "a", value: `${n}` });
      const answer = await fetch(settings, { method: "POST", headers: { "Content-Type": "application/json" }, body });
      if (!answer.ok) throw new Error(await answer.text());
    }
  });
}

test("a browser whose clock is an hour behind, and that heard nothing for an hour, catches up and loses nothing", {
  skip,
}, async () => {
  await writeFile(it.page, FILE, "wren\n");
  await openWindow(it.page, "code", FILE);
  link = await startLink();
  behind = await openBrowser({ flags: link.flags });
  const { context, page, complaints } = behind;
  page.setDefaultTimeout(PATIENCE_MS);
  await context.addInitScript(turnBack, HOUR_MS);
  await context.addCookies(await it.context.cookies());
  await page.goto(it.choir.address);
  await shows(page, "wren");
  const clock = await page.evaluate(() => Date.now());
  assert.ok(Date.now() - clock > HOUR_MS - 60_000, "its clock is behind");

  link.hold();
  await editor(page).click();
  await page.keyboard.press("ControlOrMeta+Home");
  await page.keyboard.type("typed while behind\n");
  await writeFile(it.page, FILE, "wren\nowl\n");
  await aBusyHour(it.page);
  const { id } = await openWindow(it.page, "files", "workspace/behind");
  await desktopAPI(it.page, "/settings", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ key: "dir", value: "rtl" }),
  });
  await desktopOf(it.page).locator("html[dir=rtl]").waitFor();
  assert.equal(await desktopOf(page).locator(`[data-window="${id}"]`).count(), 0, "nothing came through");

  link.release();
  await desktopOf(page).locator(`[data-window="${id}"]`).waitFor();
  await desktopOf(page).locator("html[dir=rtl]").waitFor();
  await page.locator(".connection-live").waitFor();
  // What was typed is there, in both browsers, and the other text is offered.
  await shows(page, "typed while behind");
  await desktopOf(page).getByText("This file was changed by someone else").waitFor();
  await shows(it.page, "typed while behind");
  const { windows } = await known(it.page);
  assert.equal(windows.length, 2);
  // No time lies in the future for it, or before the computer was there.
  const times = await desktopOf(page).locator("time").allInnerTexts();
  assert.deepEqual(
    times.filter((text) => /^in |-\d|NaN|Invalid/.test(text)),
    [],
  );
  assert.deepEqual(
    // The busy hour used up the changes that a minute allows.
    complaints.filter((text) => !/ERR_|WebSocket|Failed to fetch|429/.test(text)),
    [],
  );
});
