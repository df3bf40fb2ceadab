import assert from "node:assert/strict";
import { test } from "node:test";
import { violationsIn } from "../lib/axe.js";
import { frameOf } from "../lib/desktop.js";
import { rig, skip } from "../lib/rig.js";
import { appNames, arrange, furnish, playDemo, registered, reloadDesktop, statesOf } from "../lib/states.js";
import { closeAll, desktopAPI, desktopOf } from "../lib/windows.js";

const it = rig({ desktop: true });
const names = await appNames();
let run;

/** No violation of any weight, in the whole page of the desktop. */
async function accessible(what) {
  // One page is many windows, each with headings and landmarks of its own.
  const off = ["heading-order", "landmark-unique"];
  assert.deepEqual(await violationsIn(await frameOf(it.page), { off }), [], what);
}

test("every app is in the registry, and lists its states", { skip }, async () => {
  assert.deepEqual(await registered(), names);
  for (const name of names) {
    const states = await statesOf(name);
    const networks = new Set(states.map((s) => s.network));
    assert.deepEqual(
      [...networks].sort(),
      ["answers", "fails", "hangs"],
      `${name} lists a state that answers, one that hangs and one that fails`,
    );
  }
});

test("the desktop's own parts have no violation", { skip }, async () => {
  const desk = desktopOf(it.page);
  await accessible("the empty desktop");
  await it.page.keyboard.press("Control+k");
  await desk.getByRole("dialog", { name: "Launcher" }).locator("[role=option]").first().waitFor();
  await accessible("the launcher");
  await it.page.keyboard.press("Escape");
  await it.page.keyboard.press("Control+/");
  await desk.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await accessible("the keys");
  await it.page.keyboard.press("Escape");
  await desk.locator("#prompt").fill("?");
  await desk.locator(".commands li").first().waitFor();
  await accessible("the commands");
  await desk.locator("#prompt").fill("");
});

for (const name of names) {
  for (const state of skip ? [] : await statesOf(name)) {
    test(`${name}: ${state.name}`, { skip }, async () => {
      if (!run) {
        await furnish(it.page);
        run = await playDemo(it.page);
      }
      try {
        await arrange(it.page, name, state, run);
        await accessible(`${name}: ${state.name}`);
      } finally {
        await closeAll(it.page);
      }
    });
  }
}

test("the overview and a window's menu have no violation", { skip }, async () => {
  const desk = desktopOf(it.page);
  const { win } = await arrange(it.page, "settings", { network: "answers", shows: ".settings-theme" }, run);
  await win.locator(".title-menu-button").click();
  await desk.getByRole("menu").waitFor();
  await accessible("the menu of a window");
  await it.page.keyboard.press("Escape");
  await it.page.keyboard.press("Control+Alt+o");
  await desk.getByRole("dialog", { name: "Window overview" }).waitFor();
  await accessible("the overview");
  await it.page.keyboard.press("Escape");
});

test("the card of a run has no violation", { skip }, async () => {
  const desk = desktopOf(it.page);
  // What a state kept back is read now.
  await it.page.context().unrouteAll({ behavior: "ignoreErrors" });
  await reloadDesktop(it.page);
  await desk.locator(".card-fold").click();
  await desk.locator(".card-answer .markdown").waitFor();
  await desk.getByRole("button", { name: "Diff" }).first().click();
  await desk.locator(".card .diff-add").first().waitFor();
  // It stays for the themes that come next.
  await accessible("a card");
});

for (const theme of ["dark", "high-contrast", "kintsugi"]) {
  test(`the theme ${theme} keeps its contrast`, { skip }, async () => {
    const frame = await frameOf(it.page);
    await desktopAPI(it.page, "/theme", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ name: theme }),
    });
    await frame.waitForFunction((name) => document.documentElement.dataset.theme === name, theme);
    await accessible(theme);
  });
}
