import assert from "node:assert/strict";
import { test } from "node:test";
import { PATIENCE_MS } from "../lib/browser.js";
import { desktopOf, enterDesktop, frameOf, read } from "../lib/desktop.js";
import { untilHolds } from "../lib/limits.js";
import { api, rig, skip } from "../lib/rig.js";

const it = rig({ desktop: true, model: true });
const main = "choiros/src/main.tsx";
const events = async (type) => (await api(it.page, "/events?limit=1000")).body.events.filter((e) => e.type === type);
const source = async () => (await api(it.page, "/desktop/source")).body;

/** How long a run may take whose change is built and started, before and after it, in milliseconds. */
const CHECKED_MS = 8 * PATIENCE_MS;

const until = (holds, what, patience) => untilHolds(it.page, holds, what, patience);

/** Asks in the desktop's own prompt; gives the run once it has ended. */
async function asked(words) {
  const before = (await events("run.finished")).length;
  await desktopOf(it.page).locator("#prompt").fill(words);
  await desktopOf(it.page).locator("#prompt").press("Enter");
  return ended(before);
}

async function ended(before) {
  await until(async () => (await events("run.finished")).length > before, "the run ends", CHECKED_MS);
  return (await events("run.finished")).at(-1);
}

const deskColour = (frame) =>
  frame.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--desk"));

test("an agent makes the background dark blue without a reload, and one step takes it back", { skip }, async () => {
  const { page } = it;
  const frame = await frameOf(page);
  await frame.evaluate(() => {
    globalThis.sameDocument = true;
  });
  const was = await deskColour(frame);
  const run = await asked("darken the background, dark blue");
  assert.equal(run.payload.outcome, "done");
  await until(async () => (await deskColour(frame)) === "#0b1f4b", "the background is dark blue");
  assert.equal(await frame.evaluate(() => globalThis.sameDocument), true, "the page was loaded anew");
  assert.deepEqual(await source(), { mode: "shipped" }, "a theme needs no development server");
  const [checkpoint] = (await events("checkpoint.created")).filter((e) => e.run === run.run);
  assert.ok(checkpoint, "there is no checkpoint of it");

  const task = (await events("task.returned")).find((e) => e.run === run.run);
  const { marks } = (await api(page, "/timeline?limit=20")).body;
  const mark = marks.find((m) => m.kind === "task" && m.task === task.task);
  await page.goto(`${it.choir.address}/time/${mark.seq}`);
  await page.getByRole("button", { name: "Undo this" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Undo", exact: true }).click();
  await page
    .locator("[data-sonner-toast]")
    .getByText(/^Undone: 1 file changed/)
    .waitFor();
  const again = await enterDesktop(page);
  await until(async () => (await deskColour(again)) === was, "the background is what it was");
});

test("a change by which the desktop does not build leaves nothing behind, and the shell stays", { skip }, async () => {
  const { page } = it;
  const before = await read(page, main);
  const run = await asked("garble the desktop");
  assert.notEqual(run.payload.outcome, "done");
  assert.equal(await read(page, main), before);
  assert.deepEqual(await source(), { mode: "shipped" });
  await page.getByRole("navigation", { name: "Pages of the top bar" }).waitFor();
  const failed = (await events("task.returned")).find((e) => e.run === run.run);
  assert.equal(failed.payload.result.status, "failed");
  assert.match(
    JSON.stringify(failed.payload.result.verify),
    /check\.mjs/,
    "it was not the check that is found by itself",
  );
});

test("a desktop that an agent ruined is offered to be fixed, and one press has it fixed", { skip }, async () => {
  const { page } = it;
  const before = await read(page, main);
  const ruin = await asked("ruin the desktop");
  const bar = page.getByRole("alert").filter({ hasText: "broke" });
  await bar.waitFor();
  await until(async () => (await events("desktop.broke")).some((e) => e.run === ruin.run), "the run is named");
  const count = (await events("run.finished")).length;
  await bar.getByRole("button", { name: "Have it fixed" }).click();
  const mended = await ended(count);
  assert.notEqual(mended.run, ruin.run);
  assert.equal(await read(page, main), before);
  const task = (await events("task.returned")).find((e) => e.run === mended.run);
  assert.equal(task.payload.result.verify.status, "pass");
  assert.match(
    task.payload.result.verify.proves,
    /its types hold, its linter finds no mistake, .*, and its page comes up in a browser/,
  );
  await enterDesktop(page);
  await bar.waitFor({ state: "detached" });
});
