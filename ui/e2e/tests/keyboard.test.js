import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../lib/desktop.js";
import { rig, skip } from "../lib/rig.js";
import { desktopOf, known, until } from "../lib/windows.js";

const it = rig({ desktop: true, model: true });
const desk = () => desktopOf(it.page);
const press = (keys) => it.page.keyboard.press(keys);
const type = (words) => it.page.keyboard.type(words);
const focused = (app) => desk().locator(`[data-app="${app}"][data-focused="true"]`);
const windowOf = async (app, holds) =>
  (await until(it.page, ({ windows }) => windows.some((w) => w.app === app && holds(w)))).windows.find(
    (w) => w.app === app,
  );

/** Opens what the launcher finds by these words. */
async function launch(words, found) {
  const launcher = desk().getByRole("dialog", { name: "Launcher" });
  await press("Control+k");
  await launcher.waitFor();
  await type(words);
  await launcher.locator('[role="option"][aria-selected="true"]').filter({ hasText: found }).waitFor();
  await press("Enter");
  await launcher.waitFor({ state: "detached" });
}

/** Goes on by Tab, or back, to an element, each stop of which is seen to have the focus. */
async function tabTo(selector, key = "Tab") {
  const frame = await frameOf(it.page);
  for (let stops = 0; stops < 60; stops++) {
    await press(key);
    const there = await frame.evaluate((selector) => {
      const active = document.activeElement;
      return { is: active.matches(selector), seen: active === document.body || active.matches(":focus-visible") };
    }, selector);
    assert.ok(there.seen, "the focus is somewhere, and cannot be seen");
    if (there.is) return;
  }
  assert.fail(`60 times ${key}, and ${selector} has not the focus`);
}

test("a whole session goes without a mouse", { skip }, async () => {
  const frame = await frameOf(it.page);
  await frame.evaluate(() => {
    globalThis.pressed = 0;
    addEventListener("pointerdown", () => globalThis.pressed++, true);
  });
  await launch("writer", "Writer");
  await focused("writer").waitFor();
  const begin = focused("writer").getByRole("button", { name: "New document" });
  await begin.waitFor();
  await tabTo(".window[data-focused=true] .window-body button");
  await press("Enter");
  await desk().locator(".writer-text").waitFor();
  await tabTo(".writer-text");
  await type("Notes from the pond.");
  await desk().getByText("First version").waitFor();

  await press("Control+j");
  await desk().locator("#prompt:focus").waitFor();
  await type("hello from the keyboard");
  await press("Enter");
  await desk().locator(".card-answer").getByText("Hello! What shall we do?").waitFor();
  await launch("from the keyboard", "hello from the keyboard");
  await focused("trace").getByText("hello from the keyboard").first().waitFor();

  await press("Control+Alt+ArrowLeft");
  await windowOf("trace", (w) => w.snap === "left");
  await press("Control+Alt+n");
  await focused("writer").waitFor();
  await press("Control+Alt+ArrowRight");
  await windowOf("writer", (w) => w.snap === "right");
  await press("Control+Alt+Enter");
  await windowOf("writer", (w) => w.state === "normal");

  await press("Control+Alt+w");
  await focused("trace").waitFor();
  await press("Control+Alt+w");
  await desk().locator("#prompt:focus").waitFor();
  await until(it.page, ({ windows }) => windows.length === 0);
  assert.deepEqual((await known(it.page)).windows, []);
  assert.equal(await frame.evaluate(() => globalThis.pressed), 0);
});

test("Tab leads past the dock to the prompt while a window is open, and back", { skip }, async () => {
  await launch("files", "Files");
  await focused("files").locator(".files-rows:focus").waitFor();
  await desk().locator(".dock-button").first().focus();
  await tabTo("#prompt");
  await tabTo(".window[data-focused=true] .files-rows", "Shift+Tab");
});
