// The launcher by keyboard alone, and the addresses and names of before.
import assert from "node:assert/strict";
import { test } from "node:test";
import { desktopOf, enterDesktop, frameOf } from "../lib/desktop.js";
import { api, rig, skip } from "../lib/rig.js";
import { closeAll, desktopAPI, openWindow, until, writeFile } from "../lib/windows.js";

const it = rig({ desktop: true, model: true });
const desk = () => desktopOf(it.page);
const launcher = () => desk().getByRole("dialog", { name: "Launcher" });
const rows = () => launcher().getByRole("option");
const chosen = () => launcher().locator('[role="option"][aria-selected="true"]');

/** Opens the launcher and types into it; gives its rows once files are found too. */
async function look(words) {
  await it.page.keyboard.press("Control+k");
  await launcher().waitFor();
  await it.page.keyboard.type(words);
  await launcher().locator('[data-looking="false"]').waitFor();
  await launcher().locator('[data-kind="ask"]').filter({ hasText: words }).waitFor();
  return rows().allInnerTexts();
}

const go = async () => {
  await it.page.keyboard.press("Enter");
  await launcher().waitFor({ state: "detached" });
};

test("an exact name comes first, then beginnings of words; nothing that only has the letters", { skip }, async () => {
  for (const name of ["tea.md", "green-tea.txt", "steam.txt"]) await writeFile(it.page, `workspace/${name}`, "x");
  const found = await look("tea");
  const order = ["workspace/tea.md", "workspace/green-tea.txt", "workspace/steam.txt", "Ask: tea"];
  assert.deepEqual(
    found.map((text) => text.split("\n")[0]),
    order,
  );
  await chosen().filter({ hasText: "tea.md" }).waitFor();
  const input = launcher().getByRole("combobox");
  assert.equal(await input.getAttribute("aria-activedescendant"), await chosen().getAttribute("id"));
  assert.equal(await input.getAttribute("aria-controls"), await launcher().getByRole("listbox").getAttribute("id"));
  await launcher().getByRole("status").getByText("3 found").waitFor();
  await go();
  await desk().locator('[data-app="viewer"]').waitFor();
  await closeAll(it.page);
});

test("actions, themes and open windows are found by what they are called", { skip }, async () => {
  await openWindow(it.page, "settings");
  await look("setti");
  assert.match(await chosen().innerText(), /^Settings\s+App/);
  assert.ok(
    (await rows().allInnerTexts()).some((text) => /^Settings\s+Window/.test(text)),
    "the window is not listed",
  );
  await it.page.keyboard.press("Escape");
  await look("dark");
  await go();
  await desk().locator('html[data-theme="dark"]').waitFor();
  await look("light");
  await go();
  await desk().locator('html[data-theme="light"]').waitFor();
  await look("new doc");
  await go();
  await desk().locator('[data-app="writer"]').waitFor();
  await closeAll(it.page);
});

test("the last row asks, and is never taken by one word and Enter alone", { skip }, async () => {
  const before = (await desktopAPI(it.page, "/runs")).body.length;
  await look("xyzzy");
  assert.equal(await rows().count(), 1);
  assert.equal(await chosen().count(), 0);
  await it.page.keyboard.press("Enter");
  await launcher().waitFor();
  await it.page.keyboard.press("Escape");
  assert.equal((await desktopAPI(it.page, "/runs")).body.length, before);
  await look("hello");
  await it.page.keyboard.press("ArrowUp");
  await chosen().filter({ hasText: "Ask: hello" }).waitFor();
  await go();
  await desk().locator(".card-answer").getByText("Hello! What shall we do?").waitFor();
  assert.equal((await desktopAPI(it.page, "/runs")).body.length, before + 1);
});

test("going back leads to the shell's own page, where one press confirms", { skip }, async () => {
  const frame = await frameOf(it.page);
  const { body } = await desktopAPI(it.page, "/timeline?limit=5&before=0");
  const { seq } = body.marks.at(-1);
  // Ten minutes go by for the page only.
  await frame.evaluate(() => {
    const now = Date.now.bind(Date);
    Date.now = () => now() + 10 * 60_000;
  });
  await look("go back ten");
  await go();
  await it.page.getByRole("dialog", { name: "Go back" }).waitFor();
  assert.match(new URL(it.page.url()).pathname, /^\/time\/\d+/);
  assert.equal(await it.page.locator("iframe.desktop-frame").count(), 0, "the desktop is in the page");
  await it.page.getByRole("dialog", { name: "Go back" }).getByRole("button", { name: "Cancel" }).click();
  await it.page.goto(`${it.choir.address}/time/${seq}/back`);
  const head = async () => (await api(it.page, "/timeline?limit=1&before=0")).body.head;
  const before = await head();
  const dialog = it.page.getByRole("dialog", { name: "Go back" });
  await dialog.getByRole("button", { name: "Go back", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  assert.ok((await head()) > before, "nothing was rewound");
});

test("addresses of before lead to the pages of now", { skip }, async () => {
  const moved = {
    "/plain": "/runs",
    "/settings": "/models",
    "/settings/secrets": "/models/keys",
    "/settings/limits": "/models/limits",
  };
  for (const [old, now] of Object.entries(moved)) {
    await it.page.goto(`${it.choir.address}${old}`);
    await it.page.waitForURL(`${it.choir.address}${now}`);
  }
  await it.page.getByRole("heading", { level: 1, name: "Limits" }).waitFor();
});

test("a window of an app that was called otherwise opens", { skip }, async () => {
  await it.page.goto(`${it.choir.address}/`);
  await enterDesktop(it.page);
  const { win, id } = await openWindow(it.page, "browser", "http://localhost:8000/");
  assert.equal(await win.getAttribute("data-app"), "preview");
  await win.getByRole("textbox", { name: "Address" }).waitFor();
  const { windows } = await until(it.page, (s) => s.windows.some((w) => w.id === id));
  assert.equal(windows.find((w) => w.id === id).app, "browser", "what the log says was changed");
  await closeAll(it.page);
});
