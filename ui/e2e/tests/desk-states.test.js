import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import { frameOf } from "../lib/desktop.js";
import { rig, skip } from "../lib/rig.js";
import { appNames, arrange, furnish, playDemo, registered, statesOf } from "../lib/states.js";
import { closeAll, desktopAPI, desktopOf } from "../lib/windows.js";

const it = rig({ desktop: true });
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const names = await appNames();
let run;

/** No violation of any weight, in the whole page of the desktop. */
async function accessible(what) {
  const frame = await frameOf(it.page);
  // What still fades in has less contrast than it will have; a spinner never ends.
  await frame.evaluate(() =>
    Promise.allSettled(
      document
        .getAnimations()
        .filter((a) => Number.isFinite(a.effect.getComputedTiming().endTime))
        .map((a) => a.finished),
    ),
  );
  // Through the debugger, which the page's own policy does not bind.
  await frame.evaluate(await readFile(axe, "utf8"));
  const violations = await frame.evaluate(async () => {
    const found = await globalThis.axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
      // One page is many windows, each with headings and landmarks of its own.
      rules: { "heading-order": { enabled: false }, "landmark-unique": { enabled: false } },
    });
    return found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 140)).join(" | ")}`);
  });
  assert.deepEqual(violations, [], what);
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
  await desk.getByRole("dialog", { name: "Launcher" }).locator("[cmdk-item]").first().waitFor();
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
