// Where the keyboard is on the desktop: what a test types must never end in the prompt.
import assert from "node:assert/strict";
import { PATIENCE_MS } from "./browser.js";
import { frameOf } from "./desktop.js";
import { desktopAPI, desktopOf } from "./windows.js";

/** After `what` the keyboard is in the content of the window, in a field of it, or in what was opened over it. */
export async function keyboardIsInside(page, what) {
  const frame = await frameOf(page);
  await page.keyboard.type("q");
  const found = await frame.evaluate(async (patience) => {
    const over = "dialog[open], [role=menu], .by-keys";
    const isInside = (at) => {
      const above = [...document.querySelectorAll(over)];
      if (above.length > 0) return above.some((one) => one.contains(at));
      const win = document.querySelector('.window[data-focused="true"]');
      if (!win?.contains(at)) return false;
      const contents = [...win.querySelectorAll("[data-autofocus]:not(:disabled)")].filter((e) => e.checkVisibility());
      return contents.length === 0 ? at === win : contents.includes(at) || at.matches("input, textarea, select");
    };
    for (const end = performance.now() + patience; performance.now() < end; ) {
      if (isInside(document.activeElement)) break;
      await new Promise(requestAnimationFrame);
    }
    const at = document.activeElement;
    return {
      at: isInside(at) ? "inside" : at.outerHTML.slice(0, 200),
      prompt: document.querySelector("#prompt").value,
      over: document.querySelector(over) !== null,
    };
  }, PATIENCE_MS);
  assert.deepEqual([found.at, found.prompt], ["inside", ""], what);
  if (!found.over) return;
  await page.keyboard.press("Escape");
  await desktopOf(page).locator("dialog[open], [role=menu], .by-keys").first().waitFor({ state: "detached" });
}

/** Removes what is typed and not saved, so that the next window opens without it. */
export async function dropDrafts(page) {
  for (const { app, subject, revision } of (await desktopAPI(page, "/drafts")).body)
    await desktopAPI(page, `/drafts/${app}?subject=${encodeURIComponent(subject)}&revision=${revision}`, {
      method: "DELETE",
    });
}

/** Types keys that were pressed so many milliseconds after each other, whatever time the page takes over them. */
export async function typeAfter(page, ms, keys) {
  const session = await page.context().newCDPSession(page);
  const began = Date.now() / 1000;
  for (const [i, text] of [...keys].entries()) {
    const key = {
      key: text,
      text,
      code: text === " " ? "Space" : `Key${text.toUpperCase()}`,
      timestamp: began + (i * ms) / 1000,
    };
    const windowsVirtualKeyCode = text.toUpperCase().charCodeAt(0);
    await session.send("Input.dispatchKeyEvent", { type: "keyDown", windowsVirtualKeyCode, ...key });
    await session.send("Input.dispatchKeyEvent", { type: "keyUp", windowsVirtualKeyCode, ...key });
  }
  await session.detach();
}
