import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../lib/desktop.js";
import { rig, skip } from "../lib/rig.js";
import { closeAll, desktopAPI, desktopOf, known, openWindow, until, writeFile } from "../lib/windows.js";

const it = rig({ desktop: true, model: true, config: "[limits]\nprompt_burst = 100\n" });
const desk = () => desktopOf(it.page);
const prompt = () => desk().locator("#prompt");
const post = (path, body) =>
  desktopAPI(it.page, path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

test("the prompt has the focus at the start; Shift+Enter breaks the line, Escape clears, Enter sends", {
  skip,
}, async () => {
  // What is typed at once, with nothing pressed before, is in the prompt.
  await (await frameOf(it.page)).waitForFunction(() => document.activeElement?.id === "prompt");
  await it.page.keyboard.type("hello");
  await it.page.keyboard.press("Shift+Enter");
  await it.page.keyboard.type("again");
  assert.equal(await prompt().inputValue(), "hello\nagain");
  await it.page.keyboard.press("Escape");
  assert.equal(await prompt().inputValue(), "");
  await it.page.keyboard.type("hello you");
  await it.page.keyboard.press("Enter");
  await desk().locator("[data-sonner-toast]").getByText("Hello! What shall we do?").first().waitFor();
  assert.deepEqual((await known(it.page)).windows, [], "a greeting opens nothing");
});

test("up and down go through what was asked, and back to the draft", { skip }, async () => {
  await prompt().fill("a draft");
  await prompt().press("ArrowUp");
  assert.equal(await prompt().inputValue(), "hello you");
  await prompt().press("ArrowDown");
  assert.equal(await prompt().inputValue(), "a draft");
  await prompt().press("Escape");
});

test("? commands the desktop", { skip }, async () => {
  await prompt().fill("?sett");
  await desk().locator(".commands li").first().waitFor();
  await prompt().press("Enter");
  await desk().locator('[data-app="settings"]').waitFor();
  assert.equal(await prompt().inputValue(), "");
  await closeAll(it.page);
});

test("the launcher finds apps, files, actions and past runs by keyboard alone", { skip }, async () => {
  await writeFile(it.page, "workspace/kingfisher.csv", "a,b\n1,2\n");
  const launcher = desk().getByRole("dialog", { name: "Launcher" });
  const item = (text) => launcher.locator("[cmdk-item]").filter({ hasText: text }).first();
  await it.page.keyboard.press("Control+k");
  await launcher.waitFor();
  await it.page.keyboard.type("hello you");
  await item("hello you").waitFor();
  assert.equal(await launcher.locator("[cmdk-input]").inputValue(), "hello you");
  await launcher.locator("[cmdk-input]").fill("Make a checkpoint");
  await item("Make a checkpoint").waitFor();
  await launcher.locator("[cmdk-input]").fill("kingfisher");
  await item("workspace/kingfisher.csv").waitFor();
  await it.page.keyboard.press("Enter");
  await desk().locator('[data-app="viewer"]').getByRole("columnheader", { name: "a" }).waitFor();
  await it.page.keyboard.press("Control+k");
  await it.page.keyboard.press("Escape");
  await launcher.waitFor({ state: "detached" });
  await closeAll(it.page);
});

test("a pasted address is offered for what it is", { skip }, async () => {
  const frame = await frameOf(it.page);
  await frame.evaluate(() => {
    const data = new DataTransfer();
    data.setData("text/plain", "https://example.org/page");
    document
      .querySelector("#prompt")
      .dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await desk().getByRole("button", { name: "Summarise this page" }).click();
  assert.match(await prompt().inputValue(), /^Summarise https:\/\/example\.org\/page /);
  await prompt().press("Escape");
});

test("a theme is in force at once, everywhere, and after a reload; an unsafe value is refused", { skip }, async () => {
  const second = await it.context.newPage();
  await second.goto(it.choir.address);
  await desktopOf(second).locator("#prompt").waitFor();
  await it.page.bringToFront();
  await openWindow(it.page, "settings");
  await desk()
    .getByRole("button", { name: /kintsugi/i })
    .click();
  const polling = { polling: 50 };
  const gold = () => getComputedStyle(document.documentElement).getPropertyValue("--accent").trim() === "#d9b25c";
  for (const page of [it.page, second]) await (await frameOf(page)).waitForFunction(gold, undefined, polling);
  await until(it.page, ({ theme }) => theme?.name === "kintsugi");
  const frame = await frameOf(it.page);
  await frame.evaluate(() => location.reload());
  await frame.waitForFunction(gold, undefined, polling);
  for (const value of ["url(http://evil.example/)", "red; background: blue", "expression(1)"]) {
    const { status } = await post("/theme", { name: "mine", tokens: [{ name: "accent", value }] });
    assert.equal(status, 422, value);
  }
  await post("/theme", { name: "system" });
  await second.close();
});

test("a theme that lies in the workspace is offered, and follows its file", { skip }, async () => {
  const theme = (desk) =>
    JSON.stringify({ name: "pond", title: { en: "Pond", de: "Teich" }, scheme: "dark", tokens: { desk } });
  await writeFile(it.page, "choiros/themes/pond.json", theme("#0b1e33"));
  await desk().getByRole("button", { name: /Pond/ }).click();
  const frame = await frameOf(it.page);
  const is = (value) => getComputedStyle(document.documentElement).getPropertyValue("--desk").trim() === value;
  await frame.waitForFunction(is, "#0b1e33");
  await writeFile(it.page, "choiros/themes/pond.json", theme("#00008b"));
  await frame.waitForFunction(is, "#00008b");
  await post("/theme", { name: "system" });
  await closeAll(it.page);
});

test("the language and the direction of writing are settings", { skip }, async () => {
  await post("/settings", { key: "language", value: "de" });
  await post("/settings", { key: "dir", value: "rtl" });
  await desk().locator('[placeholder^="Was soll geschehen"]').waitFor();
  const frame = await frameOf(it.page);
  await frame.waitForFunction(() => document.documentElement.dir === "rtl" && document.documentElement.lang === "de");
  const { win } = await openWindow(it.page, "files");
  await win.getByText("Dieser Ordner ist leer").or(win.locator("[role=option]").first()).first().waitFor();
  const order = await frame.evaluate(() => {
    const left = (s) => document.querySelector(s).getBoundingClientRect().left;
    return { dock: left(".dock-button"), tray: left(".tray"), wide: document.documentElement.scrollWidth > innerWidth };
  });
  assert.ok(order.dock > order.tray, "apps are at the right, the clock at the left");
  assert.equal(order.wide, false);
  await post("/settings", { key: "language", value: "" });
  await post("/settings", { key: "dir", value: "" });
  await closeAll(it.page);
});
