// A phone: one window at a time, fingers, no keyboard.
import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../lib/desktop.js";
import { rig, skip } from "../lib/rig.js";
import { desktopAPI, desktopOf, openWindow } from "../lib/windows.js";

const it = rig({ desktop: true, browser: { width: 390, height: 844, touch: true } });
const desk = () => desktopOf(it.page);

test("no key is hinted at where there is no keyboard", { skip }, async () => {
  await desk().getByText("What shall we do?", { exact: true }).waitFor();
  await desk().getByText("Write below and send it.").waitFor();
  const frame = await frameOf(it.page);
  assert.ok(await frame.evaluate(() => matchMedia("(hover: none)").matches), "this is no touch screen");
  assert.doesNotMatch(await desk().locator(".desk-area").innerText(), /Ctrl|Enter|Strg/);
});

/** Has the page note each app whose window comes in front, in their order. */
async function noteFront() {
  const frame = await frameOf(it.page);
  await frame.evaluate(() => {
    window.front = [];
    const look = () => {
      const app = document.querySelector(".window:not([hidden])")?.dataset.app;
      if (app && app !== window.front.at(-1)) window.front.push(app);
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributeFilter: ["hidden"] });
  });
  return () => frame.evaluate(() => window.front);
}

test("each window of the demo is in front when it opens, and the keyboard stays where it is", { skip }, async () => {
  const front = await noteFront();
  await desk().getByRole("button", { name: "Show me a demo" }).click();
  await desk().locator("#prompt").fill("my own ");
  const seen = (app) => desk().locator(`.window[data-app=${app}]:not([hidden])`);
  await seen("terminal").locator(".terminal-host[data-link=live]").waitFor();
  await it.page.keyboard.type("words");
  assert.equal(await desk().locator("#prompt").inputValue(), "my own words");
  assert.deepEqual(await front(), ["trace", "writer", "terminal"]);
  const [{ id }] = (await desktopAPI(it.page, "/runs")).body;
  await desktopAPI(it.page, `/runs/${id}/faster`, { method: "POST" });
  await seen("timeline").waitFor();
});

test("the windows beside each other lie within the page, and are named in words", { skip }, async () => {
  const { body: doc } = await desktopAPI(it.page, "/documents", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ title: "Pond", content: "# Pond" }),
  });
  await openWindow(it.page, "settings");
  await openWindow(it.page, "writer", `document:${doc.id}`);
  await desk().getByRole("button", { name: "Open windows" }).click();
  const cells = desk().getByRole("dialog").locator(".overview-choose");
  await cells.filter({ hasText: "Pond" }).waitFor();
  for (const cell of await cells.all()) {
    const { x, width } = await cell.boundingBox();
    assert.ok(x >= 0 && x + width <= 390, `a window reaches from ${x} to ${x + width}`);
    assert.doesNotMatch(await cell.innerText(), /:[0-9a-f]{8}-/);
  }
});
