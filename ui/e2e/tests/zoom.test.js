import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../lib/desktop.js";
import { unreachable } from "../lib/reach.js";
import { rig, skip } from "../lib/rig.js";
import { closeAll, desktopOf, openWindow } from "../lib/windows.js";

// A screen of 1440x900 at 200 %, as people who see little set it.
const it = rig({ desktop: true, browser: { width: 720, height: 450, scale: 2 } });
const lostIn = async () => [
  ...(await it.page.evaluate(unreachable)),
  ...(await (await frameOf(it.page)).evaluate(unreachable)),
];

test("the note above the desktop holds what hides it, and both pages can be pressed everywhere", { skip }, async () => {
  const hide = it.page.getByRole("button", { name: "Hide this" });
  const [note, button] = await Promise.all([it.page.locator(".desktop-note").boundingBox(), hide.boundingBox()]);
  const over = button.y + button.height - (note.y + note.height);
  assert.ok(over <= 0, `it hangs ${over} px over the desktop`);
  assert.deepEqual(await lostIn(), []);
  await hide.click();
  assert.deepEqual(await lostIn(), []);
});

test("every app can be pressed everywhere", { skip }, async () => {
  for (const app of ["files", "code", "settings", "timeline", "trace", "writer", "preview", "terminal"]) {
    const { win } = await openWindow(it.page, app);
    await win.locator(".title-bar").waitFor();
    assert.deepEqual(await lostIn(), [], app);
    await closeAll(it.page);
  }
  await it.page.keyboard.press("ControlOrMeta+k");
  await desktopOf(it.page).getByRole("dialog", { name: "Launcher" }).waitFor();
  assert.deepEqual(await lostIn(), [], "the launcher");
  await it.page.keyboard.press("Escape");
});

test("every page of the shell can be pressed everywhere", { skip }, async () => {
  for (const [path, shows] of [
    ["/models", "Service"],
    ["/models/limits", "Each run"],
    ["/recover", "Recover the desktop"],
    ["/runs", "What shall be done?"],
    ["/time", "Fork from here"],
  ]) {
    await it.page.goto(it.choir.address + path);
    await it.page.getByText(shows).first().waitFor();
    assert.deepEqual(await it.page.evaluate(unreachable), [], path);
  }
  await it.page.getByRole("button", { name: "Fork from here" }).click();
  await it.page.getByRole("dialog").waitFor();
  assert.deepEqual(await it.page.evaluate(unreachable), [], "a dialog");
});
