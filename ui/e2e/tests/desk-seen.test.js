import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { frameOf } from "../lib/desktop.js";
import { rig, skip } from "../lib/rig.js";
import { unreachable } from "../lib/seen.js";
import { appNames } from "../lib/states.js";
import { tonesOf } from "../lib/tones.js";
import { closeAll, desktopOf, openWindow, writeFile } from "../lib/windows.js";

describe("200 % zoom of 1440x900", () => {
  // A browser that zooms to 200 % has half as many CSS pixels, each drawn with four.
  const it = rig({ desktop: true, model: true, browser: { width: 720, height: 450, scale: 2 } });

  test("no part of the desktop, of the shell around it or of an app is cut off", { skip }, async () => {
    const { page } = it;
    const frame = await frameOf(page);
    assert.deepEqual(await page.evaluate(unreachable), [], "the shell");
    assert.deepEqual(await frame.evaluate(unreachable), [], "the empty desktop");
    await writeFile(page, "workspace/a.csv", "bird,cm\nheron,90\n");
    for (const app of await appNames()) {
      const { win } = await openWindow(page, app, app === "files" ? "workspace/" : "");
      await win.locator("[data-state=loading]").waitFor({ state: "detached" });
      assert.deepEqual(await frame.evaluate(unreachable), [], app);
      await closeAll(page);
    }
    await page.keyboard.press("Control+k");
    await desktopOf(page).getByRole("dialog", { name: "Launcher" }).locator("[role=option]").first().waitFor();
    const last = desktopOf(page).locator("[role=option]").last();
    await last.scrollIntoViewIfNeeded();
    assert.ok((await last.boundingBox()).y < 450, "the last of what the launcher lists cannot be seen");
    await page.keyboard.press("Escape");
  });
});

describe("forced colours", () => {
  const it = rig({ desktop: true });

  test("windows have edges, the one in front has another, and the focus is always seen", { skip }, async () => {
    const { page } = it;
    await page.emulateMedia({ forcedColors: "active" });
    const frame = await frameOf(page);
    const below = await openWindow(page, "files", "workspace/", { x: 40, y: 30, width: 600, height: 400 });
    const front = await openWindow(page, "settings", "", { x: 300, y: 90, width: 700, height: 460 });
    await desktopOf(page).locator(`[data-window="${front.id}"][data-focused="true"]`).waitFor();
    const edge = (win) =>
      win.evaluate((e) => {
        const {
          borderTopStyle: style,
          borderTopWidth: width,
          borderTopColor: colour,
          backgroundColor,
        } = getComputedStyle(e);
        return { style, width, colour, stands: colour !== backgroundColor };
      });
    const [one, other] = [await edge(below.win), await edge(front.win)];
    for (const { style, stands } of [one, other]) assert.deepEqual({ style, stands }, { style: "solid", stands: true });
    assert.notEqual(`${one.width} ${one.colour}`, `${other.width} ${other.colour}`);

    // Marks that are nothing but a colour: what is open in the dock, and that the page is live.
    const open = desktopOf(page).locator('.dock-button[data-open="true"][data-active="false"]');
    const { width, height } = await open.boundingBox();
    const dot = page.locator(".connection-live .connection-dot");
    await dot.waitFor();
    const [mark, beside, live, around] = await tonesOf(page, [
      [open, width / 2, height - 3.5],
      [open, width / 2, height - 7],
      [dot, 4, 4],
      [dot, -3, 4],
    ]);
    assert.ok(Math.abs(mark - beside) > 100, `the mark of an open app has the tone ${mark} on ${beside}`);
    assert.ok(Math.abs(live - around) > 100, `the dot of a live page has the tone ${live} on ${around}`);

    await desktopOf(page).locator("#prompt").focus();
    const blind = [];
    for (let stop = 0; stop < 40; stop++) {
      blind.push(...(await frame.evaluate(unmarked)), ...(await page.evaluate(unmarked)));
      await page.keyboard.press("Tab");
    }
    assert.deepEqual([...new Set(blind)], []);
    await closeAll(page);
  });
});

/** Runs in the page: the element with the focus, when no outline says so. */
function unmarked() {
  const active = document.activeElement;
  if (!active || active === document.body || active.tagName === "IFRAME") return [];
  const outlined = (e) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(e);
    return outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2;
  };
  for (let e = active; e && e !== document.body; e = e.parentElement) if (outlined(e)) return [];
  return [`${active.tagName} ${active.id} ${active.className} ${active.getAttribute("aria-label") ?? ""}`];
}
