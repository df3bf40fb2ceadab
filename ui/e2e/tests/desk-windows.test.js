import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../lib/desktop.js";
import { rig, skip } from "../lib/rig.js";
import { closeAll, desktopOf, drag, enterDesktop, known, openWindow, until, writeFile } from "../lib/windows.js";

const it = rig({ desktop: true, browser: { stock: true } });
const start = { x: 120, y: 90, width: 640, height: 420 };
let id;
let win;

const one = async () => (await known(it.page)).windows.find((w) => w.id === id);
const becomes = async (holds) =>
  (await until(it.page, ({ windows }) => holds(windows.find((w) => w.id === id)))).windows.find((w) => w.id === id);

/** A fresh window of the settings at a known place, with the focus. */
async function fresh() {
  await closeAll(it.page);
  ({ id, win } = await openWindow(it.page, "settings", "", start));
  await win.locator(".title-text").click();
}

test("a window is dragged by its title, and the server knows where to", { skip }, async () => {
  await fresh();
  await drag(it.page, win.locator(".title-grip"), { dx: 100, dy: 60 });
  const { bounds } = await becomes((w) => w.bounds.x === start.x + 100);
  assert.deepEqual(bounds, { ...start, x: start.x + 100, y: start.y + 60 });
});

const pulls = {
  n: { y: 10, height: -10 },
  s: { height: 10 },
  e: { width: 20 },
  w: { x: 20, width: -20 },
  ne: { width: 20, y: 10, height: -10 },
  nw: { x: 20, width: -20, y: 10, height: -10 },
  se: { width: 20, height: 10 },
  sw: { x: 20, width: -20, height: 10 },
};
for (const [side, change] of Object.entries(pulls)) {
  test(`side ${side} resizes, and the opposite one stays`, { skip }, async () => {
    await fresh();
    await drag(it.page, win.locator(`.window-handle-${side}`), { dx: 20, dy: 10 });
    const want = Object.fromEntries(Object.entries(start).map(([k, v]) => [k, v + (change[k] ?? 0)]));
    const { bounds } = await becomes(
      (w) =>
        JSON.stringify(w.bounds) !== JSON.stringify(start) &&
        w.bounds.width === want.width &&
        w.bounds.height === want.height,
    );
    assert.deepEqual(bounds, want);
  });
}

test("at the edge a preview is shown, letting go snaps, restoring gives the exact bounds back", { skip }, async () => {
  await fresh();
  const frame = await it.page.locator("iframe.desktop-frame").boundingBox();
  const preview = desktopOf(it.page).locator(".snap-preview");
  await drag(it.page, win.locator(".title-grip"), { to: { x: frame.x + 3, y: frame.y + 300 }, drop: false });
  await preview.waitFor();
  await it.page.mouse.up();
  await preview.waitFor({ state: "detached" });
  assert.equal((await becomes((w) => w.state === "snapped")).snap, "left");
  const drawn = await win.boundingBox();
  assert.ok(Math.abs(drawn.width - 720) <= 1 && Math.abs(drawn.x - frame.x) <= 1, JSON.stringify(drawn));
  const before = (await one()).bounds;
  await win.getByRole("button", { name: /^Restore/ }).click();
  const after = await becomes((w) => w.state === "normal");
  assert.deepEqual(after.bounds, before);
});

test("arrow keys snap to every half and quarter, and maximise", { skip }, async () => {
  await fresh();
  const { keyboard } = it.page;
  for (const [keys, state, snap] of [
    ["Left", "snapped", "left"],
    ["Up", "snapped", "top_left"],
    ["Right", "snapped", "top_right"],
    ["Down", "snapped", "right"],
    ["Down", "snapped", "bottom_right"],
    ["Left", "snapped", "bottom_left"],
    ["Up", "snapped", "left"],
    ["Right", "normal"],
    ["Up", "maximised"],
    ["Down", "normal"],
  ]) {
    await keyboard.press(`Control+Alt+Arrow${keys}`);
    await becomes((w) => w.state === state && w.snap === snap);
  }
  assert.deepEqual((await one()).bounds, start);
});

test("a window is moved and resized by keyboard alone, and Escape puts it back", { skip }, async () => {
  await fresh();
  const { keyboard } = it.page;
  await keyboard.press("Control+Alt+g");
  await win.locator(".by-keys").waitFor();
  await keyboard.press("ArrowRight");
  await keyboard.press("Shift+ArrowDown");
  await keyboard.press("Enter");
  await becomes((w) => w.bounds.x === start.x + 24 && w.bounds.y === start.y + 1);
  await keyboard.press("Control+Alt+s");
  await win.locator(".by-keys").waitFor();
  await keyboard.press("ArrowRight");
  await becomes((w) => w.bounds.width === start.width + 24);
  await keyboard.press("Escape");
  await becomes((w) => w.bounds.width === start.width);
});

test("minimising remembers the snap, and focusing brings it back", { skip }, async () => {
  await fresh();
  await it.page.keyboard.press("Control+Alt+ArrowRight");
  await becomes((w) => w.snap === "right");
  await it.page.keyboard.press("Control+Alt+m");
  assert.equal((await becomes((w) => w.state === "minimised")).was, "snapped");
  await win.waitFor({ state: "hidden" });
  await it.page.keyboard.press("Control+Alt+n");
  assert.equal((await becomes((w) => w.state === "snapped")).snap, "right");
});

test("closing focuses the window below, and the last one the prompt", { skip }, async () => {
  await fresh();
  const below = id;
  const upper = await openWindow(it.page, "files", "", { ...start, x: 300 });
  await upper.win.locator(".title-text").click();
  await it.page.keyboard.press("Control+Alt+w");
  await upper.win.waitFor({ state: "detached" });
  await desktopOf(it.page).locator(`[data-window="${below}"][data-focused="true"]`).waitFor();
  await it.page.keyboard.press("Control+Alt+w");
  await desktopOf(it.page).locator("#prompt:focus").waitFor();
  await until(it.page, ({ windows }) => windows.length === 0);
});

test("virtual desktops, the overview and showing the desktop work by keyboard", { skip }, async () => {
  await fresh();
  const desk = desktopOf(it.page);
  await it.page.keyboard.press("Control+Alt+Shift+2");
  await win.waitFor({ state: "hidden" });
  await it.page.keyboard.press("Control+Alt+2");
  await win.waitFor();
  await becomes((w) => w.desktop === 1);
  await it.page.keyboard.press("Control+Alt+o");
  await desk.getByRole("dialog", { name: "Window overview" }).waitFor();
  await it.page.keyboard.press("Enter");
  await desk.getByRole("dialog").waitFor({ state: "detached" });
  await it.page.keyboard.press("Control+Alt+d");
  await becomes((w) => w.state === "minimised");
  await it.page.keyboard.press("Control+Alt+d");
  await becomes((w) => w.state === "normal");
  await it.page.keyboard.press("Control+Alt+1");
  await win.waitFor({ state: "hidden" });
});

test("a reload shows the same without a flash of an empty desktop", { skip }, async () => {
  await fresh();
  await it.page.keyboard.press("Control+Alt+1");
  const other = await openWindow(it.page, "files", "", { ...start, x: 400 });
  await other.win.locator("[role=option]").first().waitFor();
  const frame = await (await it.page.locator("iframe.desktop-frame").elementHandle()).contentFrame();
  // Watches every change of the new page: the bar never stands there without its windows.
  await it.context.addInitScript(() => {
    if (!/^[0-9a-f-]{36}\./.test(location.host)) return;
    globalThis.flashed = false;
    new MutationObserver(() => {
      if (document.querySelector(".bar") && !document.querySelector("[data-window]")) globalThis.flashed = true;
    }).observe(document, { childList: true, subtree: true });
  });
  await frame.evaluate(() => location.reload());
  await frame.waitForFunction(
    () => globalThis.flashed !== undefined && document.querySelectorAll("[data-window]").length >= 2,
  );
  assert.equal(await frame.evaluate(() => globalThis.flashed), false);
  const places = await frame.evaluate(() =>
    [...document.querySelectorAll("[data-window]:not([hidden])")].map((w) => [
      w.dataset.window,
      w.offsetLeft,
      w.style.zIndex,
    ]),
  );
  const { windows } = await known(it.page);
  const seen = windows.filter((w) => (w.desktop ?? 0) === 0);
  assert.deepEqual(
    places.sort((a, b) => a[2] - b[2]).map(([w]) => w),
    seen.map((w) => w.id),
  );
});

test("two browsers mirror each other, while a drag goes on as well", { skip }, async () => {
  await fresh();
  const second = await it.context.newPage();
  await second.goto(it.choir.address);
  await enterDesktop(second);
  const there = desktopOf(second).locator(`[data-window="${id}"]`);
  await there.waitFor();
  await it.page.bringToFront();
  await drag(it.page, win.locator(".title-grip"), { dx: 200, dy: 0, drop: false });
  const mirror = await (await second.locator("iframe.desktop-frame").elementHandle()).contentFrame();
  const left = ([id, least, most]) => {
    const at = document.querySelector(`[data-window="${id}"]`).offsetLeft;
    return at >= least && at <= most;
  };
  // It lies behind the first page, where no frames are drawn.
  const polling = { polling: 50 };
  await mirror.waitForFunction(left, [id, start.x + 1, start.x + 200], polling);
  await it.page.mouse.up();
  await becomes((w) => w.bounds.x === start.x + 200);
  await mirror.waitForFunction(left, [id, start.x + 200, start.x + 200], polling);
  await second.close();
});

test("a window put beyond the edge of a page by a larger one has its buttons there, and stays where it was put", {
  skip,
}, async () => {
  await closeAll(it.page);
  const area = await desktopOf(it.page).locator(".desk-area").boundingBox();
  const right = area.x + area.width;
  const bounds = { ...start, x: Math.round(area.width) - 300 };
  ({ id, win } = await openWindow(it.page, "settings", "", bounds));
  for (const name of ["Minimise", "Maximise", "Close"]) {
    const box = await win.getByRole("button", { name: new RegExp(`^${name} `) }).boundingBox();
    assert.ok(box.x >= area.x && box.x + box.width <= right, `${name} is at ${box.x} of ${right}`);
  }
  assert.deepEqual((await one()).bounds, bounds);
  await win.getByRole("button", { name: /^Close / }).click();
  await until(it.page, ({ windows }) => !windows?.length);
});

test("every window has its app in the dock, and ten apps fit or can be scrolled to", { skip }, async () => {
  const { page } = it;
  await closeAll(page);
  const desk = desktopOf(page);
  const dock = desk.getByRole("navigation", { name: "Apps" });
  assert.equal(await dock.getByRole("button", { name: /^Viewer/ }).count(), 0);
  await writeFile(page, "workspace/dock.svg", '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" />');
  const viewer = await openWindow(page, "viewer", "workspace/dock.svg", start);
  const gone = await openWindow(page, "tide-table", "", { ...start, x: 780, width: 400 });
  for (const [{ id }, name] of [
    [viewer, "Viewer, 1 window"],
    [gone, "tide-table, 1 window"],
  ]) {
    const window = desk.locator(`[data-window="${id}"]`);
    await window.getByRole("button", { name: /^Minimise/ }).click();
    await window.waitFor({ state: "hidden" });
    await dock.getByRole("button", { name }).click();
    await window.waitFor();
  }
  const inSight = (button) => {
    const { left, right, top } = button.getBoundingClientRect();
    return [left + 2, right - 2].every((x) => button.contains(document.elementFromPoint(x, top + 20)));
  };
  const buttons = dock.getByRole("button");
  assert.equal(await buttons.count(), 11, "the launcher and ten apps");
  for (const [width, height] of [
    [1440, 900],
    [1024, 700],
  ]) {
    await page.setViewportSize({ width, height });
    await desk.locator("#prompt").waitFor();
    for (const button of await buttons.all()) {
      const name = await button.getAttribute("aria-label");
      assert.ok(await button.evaluate(inSight), `${name} at ${width} pixels`);
    }
    const prompt = await desk.locator(".prompt").boundingBox();
    assert.ok(prompt.width >= 260, `the prompt has ${prompt.width} pixels`);
  }
  await page.setViewportSize({ width: 920, height: 700 });
  const last = buttons.last();
  await last.focus();
  assert.ok(await last.evaluate(inSight), "the last comes into sight with the keyboard");
  await page.setViewportSize({ width: 1440, height: 900 });
  // A dock that gets room scrolls back, and a scroll takes the tip away.
  const frame = await frameOf(page);
  await frame.waitForFunction(() => {
    const { scrollWidth, clientWidth } = document.querySelector(".dock");
    return innerWidth === 1440 && scrollWidth <= clientWidth;
  });
  await frame.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const tip = desk.locator(".dock-tip");
  // On a busy machine that scroll may come after the pointer.
  for (let n = 0, shown = false; n < 5 && !shown; n++) {
    await page.mouse.move(700, 300);
    await buttons.nth(1).hover();
    shown = await tip.waitFor({ timeout: 3000 }).then(
      () => true,
      () => false,
    );
  }
  assert.equal(await tip.innerText(), "Writer");
  await page.mouse.move(700, 300);
  await tip.waitFor({ state: "detached" });
  await closeAll(page);
});

test("an app that throws says so in its own window; the others go on", { skip }, async () => {
  const { page, context, complaints } = it;
  await closeAll(page);
  const before = complaints.length;
  const other = await openWindow(page, "files", "workspace/", { ...start, x: 20 });
  await other.win.locator(".files").waitFor();
  const code = /\/assets\/App-[^/]+\.js$/;
  const body = 'throw new Error("a mistake in it"); export default undefined;';
  await context.route(code, (route) => route.fulfill({ contentType: "text/javascript", body }));
  const broken = await openWindow(page, "trace", "", { ...start, x: 700 });
  await broken.win.getByRole("alert").getByText("This app stumbled").waitFor();
  await broken.win.getByRole("button", { name: "Reload this app" }).click();
  await broken.win.getByRole("alert").getByText("This app stumbled").waitFor();
  await context.unroute(code);
  // The window beside it, and the prompt, work as before.
  await other.win.getByRole("button", { name: "Grid" }).click();
  await other.win.locator('.files-list[data-look="grid"], [data-state=empty]').first().waitFor();
  await desktopOf(page).locator("#prompt").fill("still here");
  await desktopOf(page).locator("#prompt").fill("");
  await page.reload();
  await enterDesktop(page);
  const again = desktopOf(page).locator(`[data-window="${broken.id}"]`);
  await again.locator(".trace, [data-state=empty]").first().waitFor();
  // What the browser said of the mistake, and of nothing else.
  const said = complaints.splice(before);
  assert.ok(said.length > 0 && said.every((c) => /mistake|App-|error occurred/i.test(c)), said.join("\n"));
  await closeAll(page);
});

test("an app whose code an updated choir has no more says so, and comes with a reload", { skip }, async () => {
  const { page, context, complaints } = it;
  const before = complaints.length;
  await page.reload(); // no app's code is there yet
  await enterDesktop(page);
  const code = /\/assets\/App-[^/]+\.js$/;
  await context.route(code, (route) => route.fulfill({ status: 404, body: "" }));
  const { id, win } = await openWindow(page, "trace", "", start);
  await win.getByRole("alert").getByText("This app could not be loaded").waitFor();
  await context.unroute(code);
  await win.getByRole("button", { name: "Reload the page" }).click();
  await desktopOf(page).locator(`[data-window="${id}"]`).locator(".trace, [data-state=empty]").first().waitFor();
  const said = complaints.splice(before);
  assert.ok(said.length > 0 && said.every((c) => /404|App-|error occurred/i.test(c)), said.join("\n"));
  await closeAll(page);
});

test("nothing was complained about on the console", { skip }, () => assert.deepEqual(it.complaints, []));
