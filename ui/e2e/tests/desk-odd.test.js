// What a browser may lack, and how much a person may open.
import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../lib/desktop.js";
import { rig, skip } from "../lib/rig.js";
import { HELD_MS, leastHeld } from "../lib/tasks.js";
import { closeAll, desktopAPI, desktopOf, drag, enterDesktop, known, openWindow, until } from "../lib/windows.js";

const it = rig({ desktop: true, browser: { stock: true } });

test("a browser without WebSockets follows the log all the same, and says that it is not live", { skip }, async () => {
  await enterDesktop(it.page);
  const page = await it.page.context().newPage();
  await page.addInitScript(() => {
    delete globalThis.WebSocket;
  });
  await page.goto(it.choir.address);
  const desktop = desktopOf(page);
  await desktop.locator(".tray-connection").getByText("Not live").waitFor();
  await page.locator(".connection").getByText("Not live").waitFor();
  // What another page does is seen here.
  const { id } = await openWindow(it.page, "settings");
  await desktop.locator(`[data-window="${id}"]`).waitFor();
  await openWindow(it.page, "terminal");
  await desktop.getByText("A terminal needs a WebSocket").waitFor();
  await page.close();
  await closeAll(it.page);
});

test("a hundred windows open, and one of them is dragged without holding up the page", { skip }, async () => {
  await enterDesktop(it.page);
  for (let n = 1; n <= 100; n++) {
    const bounds = { x: 10 + n, y: 10 + n, width: 500, height: 300 };
    const { status } = await desktopAPI(it.page, "/windows", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ app: "settings", subject: "", bounds }),
    });
    assert.equal(status, 201);
  }
  const { windows } = await known(it.page);
  assert.equal(windows.length, 100);
  const { id, bounds } = windows.find((w) => w.focused) ?? windows.at(-1);
  const win = desktopOf(it.page).locator(`[data-window="${id}"]`);
  await win.waitFor();
  const least = await leastHeld(await frameOf(it.page), async (times) => {
    await drag(it.page, win.locator(".title-text"), { dx: 100, dy: 60 });
    const x = bounds.x + 100 * (times + 1);
    await until(it.page, (d) => d.windows.some((w) => w.id === id && w.bounds.x === x));
  });
  assert.ok(least < HELD_MS, `a task took ${least} ms`);
});
