import assert from "node:assert/strict";
import { test } from "node:test";
import { enterDesktop } from "../lib/desktop.js";
import { rig, skip } from "../lib/rig.js";
import { desktopAPI, openWindow, writeFile } from "../lib/windows.js";

const it = rig({ desktop: true });
const left = { x: 30, y: 20, width: 500, height: 400 };

/** The newest event, whatever page is shown. */
const head = () => it.page.evaluate(async () => (await (await fetch("/api/computers")).json())[0].head);

const setTheme = (name) =>
  desktopAPI(it.page, "/theme", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ name }),
  });

/** Goes to a moment in the shell, and gives the frame that shows the desktop of then. */
async function lookAt(seq) {
  await it.page.goto(new URL(`/time/${seq}`, it.page.url()).href);
  return await shown(seq);
}

async function shown(seq) {
  const frame = await (await it.page.locator("iframe.past-frame").elementHandle()).contentFrame();
  await frame.locator(`[data-moment="${seq}"]`).waitFor();
  return frame;
}

const moments = {};

test("the slider shows the desktop as it was: windows, what they showed, and the theme", { skip }, async () => {
  const { page } = it;
  const refused = [];
  page.on("response", (r) => r.status() >= 400 && refused.push(`${r.request().method()} ${r.url()}`));
  await writeFile(page, "workspace/bird.txt", "wren\n");
  await openWindow(page, "code", "workspace/bird.txt", left);
  await openWindow(page, "terminal", "", { ...left, x: 560 });
  const { body: doc } = await desktopAPI(page, "/documents", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ title: "Birds", content: "seen at dawn" }),
  });
  await openWindow(page, "writer", `document:${doc.id}`, { ...left, y: 300 });
  moments.early = await head();
  await setTheme("dark");
  await writeFile(page, "workspace/bird.txt", "owl\n");
  const { win } = await openWindow(page, "files", "workspace/", left);
  await win.getByText("bird.txt").waitFor();
  moments.later = await head();

  const then = await lookAt(moments.early);
  const code = then.locator(".window[data-app=code]");
  await code.getByText("wren").waitFor();
  await then.locator(".window[data-app=terminal]").getByText("is not kept").waitFor();
  assert.equal(await then.locator(".window[data-app=files]").count(), 0);
  assert.notEqual(await then.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.equal(await code.evaluate((w) => getComputedStyle(w).left), "30px");

  // The slider goes on without opening the frame again.
  const slider = page.getByRole("slider");
  await slider.focus();
  await then.evaluate(() => Object.assign(window, { same: true }));
  for (let seq = moments.early; seq < moments.later; seq = Number(new URL(page.url()).pathname.split("/")[2])) {
    const was = page.url();
    await page.keyboard.press("ArrowRight");
    await page.waitForURL((url) => url.href !== was);
    if (!/^\/time\/\d+$/.test(new URL(page.url()).pathname)) break;
  }
  const now = await (await page.locator("iframe.past-frame").elementHandle()).contentFrame();
  await now.locator(".window[data-app=code]").getByText("owl").waitFor();
  await now.locator(".window[data-app=writer]").getByText("seen at dawn").waitFor();
  await now.locator(".window[data-app=files]").getByText("bird.txt").waitFor();
  assert.equal(await now.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.equal(await now.evaluate(() => window.same), true);
  assert.deepEqual(refused, []);
});

test("the desktop of then can only be looked at", { skip }, async () => {
  const { page } = it;
  const before = await head();
  const then = await lookAt(moments.early);
  await then.locator(".window[data-app=code]").getByText("wren").waitFor();
  const answers = await then.evaluate(async () => {
    const base = `/api/computers/${location.host.split(".")[0].replace("past--", "")}`;
    const ask = async (path, method, body) => (await fetch(base + path, { method, ...(body ? { body } : {}) })).status;
    return {
      read: await ask("/desktop", "GET"),
      setting: await ask("/settings", "POST", JSON.stringify({ key: "a", value: "b" })),
      file: await ask("/files/workspace/bird.txt", "PUT", "mine"),
      prompt: await ask("/prompts", "POST", JSON.stringify({ text: "hello" })),
      bus: await ask("/bus", "POST"),
      rewind: await ask("/rewind", "POST", JSON.stringify({ seq: 1 })),
    };
  });
  assert.deepEqual(answers, { read: 200, setting: 403, file: 403, prompt: 403, bus: 403, rewind: 403 });

  // Neither a pointer nor keys get in, and it takes no focus by itself.
  const box = await page.locator(".past").boundingBox();
  await page.mouse.click(box.x + box.width / 4, box.y + box.height / 4);
  await then.evaluate(() => document.querySelector("#prompt").focus());
  await page.keyboard.type("never");
  assert.equal(await then.evaluate(() => document.hasFocus() || document.querySelector("#prompt").value !== ""), false);
  assert.equal(await head(), before);
  await enterDesktop(page);
});
