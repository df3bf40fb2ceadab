import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { frameOf } from "../lib/desktop.js";
import { rig, skip } from "../lib/rig.js";
import { desktopOf, openWindow, writeFile } from "../lib/windows.js";

/** Runs in the page: what is wider than it, and what is too small for a finger. */
function trouble() {
  const wide = document.documentElement.scrollWidth > innerWidth ? ["the page is wider than the screen"] : [];
  const small = [...document.querySelectorAll("button, select, textarea, input, a[href]")]
    .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.matches(".skip:not(:focus)"))
    .map((e) => [e, e.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0 && box.height < 43.5)
    .map(([e, box]) => `${e.className} ${e.getAttribute("aria-label") ?? e.textContent} ${box.height}`);
  return [...wide, ...small];
}

/** Runs in the page: whether the words in the empty prompt have room. */
function placeholderFits() {
  const prompt = document.querySelector("#prompt");
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = getComputedStyle(prompt).font;
  return prompt.placeholder !== "" && pen.measureText(prompt.placeholder).width <= prompt.clientWidth;
}

for (const { width, height } of [
  { width: 390, height: 844 },
  { width: 768, height: 1024 },
]) {
  describe(`${width}x${height}`, () => {
    const it = rig({ desktop: true, browser: { width, height, touch: true } });

    test("the names in both bars can be read whole, and what hides a note gives the keys back", { skip }, async () => {
      const frame = await frameOf(it.page);
      const cut = (e) => e.scrollWidth > e.clientWidth;
      assert.equal(await it.page.locator(".computers-name").evaluate(cut), false, "the computer's name");
      assert.ok(await frame.evaluate(placeholderFits), "what the prompt says");
      await it.page.getByRole("button", { name: "Hide this" }).tap();
      await frame.waitForFunction(() => document.activeElement?.id === "prompt");
      await it.page.keyboard.type("as before");
      assert.equal(await desktopOf(it.page).locator("#prompt").inputValue(), "as before");
      await it.page.keyboard.press("Escape");
      assert.deepEqual(await it.page.evaluate(trouble), [], "the shell");
      if (width < 560) await it.page.getByRole("button", { name: "Pages", exact: true }).tap();
      await it.page.getByRole("link", { name: "Recover" }).waitFor();
      assert.deepEqual(await it.page.evaluate(trouble), [], "the pages of the shell");
      await it.page.keyboard.press("Escape");
    });

    test("one app fills the page, everything fits, and a finger can press it", { skip }, async () => {
      await writeFile(it.page, "workspace/a.csv", "bird,cm\nheron,90\n");
      const first = await openWindow(it.page, "files", "workspace/");
      const frame = await frameOf(it.page);
      await first.win.locator("[role=option]").first().waitFor();
      assert.deepEqual(await frame.evaluate(trouble), []);
      const second = await openWindow(it.page, "viewer", "workspace/a.csv");
      await second.win.getByRole("cell", { name: "90" }).waitFor();
      await first.win.waitFor({ state: "hidden" });
      const box = await second.win.boundingBox();
      assert.equal(Math.round(box.width), width);
      assert.deepEqual(await frame.evaluate(trouble), []);
    });

    test("the switcher leads to the other windows", { skip }, async () => {
      const desk = desktopOf(it.page);
      await desk.getByRole("button", { name: "Open windows" }).tap();
      const overview = desk.getByRole("dialog", { name: "Window overview" });
      await overview.waitFor();
      assert.deepEqual(await (await frameOf(it.page)).evaluate(trouble), []);
      await overview.locator(".overview-choose").nth(1).tap();
      await desk.locator('[data-app="files"][data-focused="true"]').waitFor();
    });
  });
}
