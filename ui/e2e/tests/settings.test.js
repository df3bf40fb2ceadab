import assert from "node:assert/strict";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { openBrowser } from "../lib/browser.js";
import { freePort } from "../lib/choir.js";
import { inspect } from "../lib/inspect.js";
import { fastest } from "../lib/limits.js";
import { startModel } from "../lib/model.js";
import { api, ask, rig, skip } from "../lib/rig.js";
import { desktopOf, openWindow } from "../lib/windows.js";

const config = `
[limits]
run_tasks = 7
[models]
director = "house/owl"
[[models.provider]]
name = "house"
kind = "anthropic"
key_env = "CHOIR_E2E_NO_SUCH_KEY"
[[models.provider]]
name = "yard"
kind = "openai"
base_url = "https://models.example/v1"
key_env = "CHOIR_E2E_KEY"
`;
const it = rig({ desktop: true, config });
const size = { width: 1440, height: 900 };
const row = (text) => it.page.getByRole("listitem").filter({ hasText: text });
const shown = (name) => it.page.getByRole("heading", { level: 1, name, exact: true }).waitFor();

test("what is out of the desktop's reach opens its own page there, and the desktop is not beside it", {
  skip,
}, async () => {
  for (const [name, path] of [
    ["Models", "/models"],
    ["API keys", "/models/keys"],
    ["Limits", "/models/limits"],
  ]) {
    await it.page.goto(`${it.choir.address}/`);
    await desktopOf(it.page).locator("#prompt").waitFor();
    const { win } = await openWindow(it.page, "settings");
    await win.getByRole("button", { name: "Models & keys" }).click();
    await win.getByRole("button", { name, exact: true }).click();
    await shown(name);
    assert.equal(new URL(it.page.url()).pathname, path);
    assert.equal(await it.page.locator("iframe").count(), 0, "the desktop is in the page");
    await it.page
      .getByText(/on the machine|A key stays/)
      .first()
      .waitFor();
    await inspect(it.page, path.slice(1).replace("/", "-"), size);
  }
});

test("limits say what is in force and who set it", { skip }, async () => {
  const limit = (name) => it.page.getByRole("row").filter({ has: it.page.getByText(name, { exact: true }) });
  assert.match(await limit("run_tasks").innerText(), /Tasks of one run[\s\S]*\b7\b[\s\S]*you/);
  assert.match(await limit("processes").innerText(), /1,024[\s\S]*default/);
});

test("every limit is said in German, and the bar above it fits a small laptop", { skip }, async () => {
  const { limits } = await it.page.evaluate(async () => (await fetch("/api/settings")).json());
  assert.ok(limits.length > 10);
  const other = await openBrowser({ locale: "de-DE", width: 1280, height: 800 });
  try {
    await other.page.goto(await it.choir.link());
    await other.page.waitForSelector("iframe.desktop-frame");
    await other.page.goto(`${it.choir.address}/models/limits`);
    await other.page.getByText("Aufgaben eines Laufs").waitFor();
    await other.page.getByText("Verbunden").waitFor();
    const said = await other.page.locator("main").innerText();
    assert.deepEqual(
      limits.filter(({ doc }) => said.includes(doc)).map(({ key }) => key),
      [],
      "in English",
    );
    const scrolls = await other.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(scrolls <= 0, `the page is ${scrolls} px too wide`);
  } finally {
    await other.close();
  }
});

test("keys are told of by name, never by value; the sections go by keyboard", { skip }, async () => {
  await it.page.getByRole("link", { name: "API keys" }).focus();
  await it.page.keyboard.press("Enter");
  await shown("API keys");
  await row("Key of house").getByText("Cannot be used").waitFor();
  await row("Key of house").getByText("CHOIR_E2E_NO_SUCH_KEY, which holds").waitFor();
  await row("Key of yard").getByText("Present").waitFor();
  await it.page.goBack();
  await shown("Limits");
  await it.page.goto(`${it.choir.address}/models`);
  await shown("Models");
  await row("yard").getByText("https://models.example/v1 · not used").waitFor();
  await it.page.getByText("no model is connected for the Associate").waitFor();
});

test("settings that do not come are said to be read, or why they are not", { skip }, async () => {
  const asked = "**/api/settings";
  let answer;
  const held = new Promise((done) => {
    answer = done;
  });
  await it.page.route(asked, async (route) => {
    await held;
    await route.fulfill({
      status: 503,
      contentType: "application/problem+json",
      body: JSON.stringify({ status: 503, code: "unavailable", detail: "the control plane is busy" }),
    });
  });
  await it.page.reload();
  await it.page.getByText("Reading the settings…").waitFor();
  await inspect(it.page, "settings-reading", size);
  answer();
  await it.page.getByRole("alert").getByText("the control plane is busy").waitFor();
  await inspect(it.page, "settings-failed", size);
  await it.page.unroute(asked);
  await it.page.getByRole("button", { name: "Try again" }).click();
  await row("yard").waitFor();
});

test("the owner's phrase stands on every page that asks for something, and no page of a sandbox gets it", {
  skip,
}, async () => {
  const { page, choir } = it;
  const phrase = "a heron <b>at noon</b>";
  const line = page.locator(".settings-phrase");
  await page.goto(`${choir.address}/models/approvals`);
  await line.getByText("It cannot know a phrase of yours").waitFor();
  await line.getByRole("button", { name: "Choose a phrase" }).click();
  await page.keyboard.type(phrase);
  await inspect(page, "settings-phrase-typed", size);
  await page.keyboard.press("Enter");
  await line.getByText(`Your phrase: ${phrase}`).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Change");
  for (const path of ["/models", "/models/keys", "/models/hosts", "/models/approvals"]) {
    await page.goto(`${choir.address}${path}`);
    await line.getByText(`Your phrase: ${phrase}`).waitFor();
  }
  await inspect(page, "settings-phrase", size);
  await page.goto(`${choir.address}/`);
  await desktopOf(page).locator("#prompt").waitFor();
  const frame = page.frames().find((f) => f !== page.mainFrame());
  const read = await frame.evaluate(async () => {
    const answer = await fetch("/api/settings");
    return `${answer.status} ${await answer.text()}`;
  });
  assert.match(read, /^40[34] /);
  assert.ok(!read.includes("heron"), read);
  // A second tab knows of a change by the time that the person looks at it.
  const other = await it.context.newPage();
  await other.goto(`${choir.address}/models/limits`);
  await other.locator(".settings-phrase").getByText(`Your phrase: ${phrase}`).waitFor();
  await page.goto(`${choir.address}/models`);
  await line.getByRole("button", { name: "Change" }).click();
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");
  await page.keyboard.press("Enter");
  await line.getByRole("button", { name: "Choose a phrase" }).waitFor();
  await other.evaluate(() => document.dispatchEvent(new Event("visibilitychange", { bubbles: true })));
  await other.locator(".settings-phrase").getByRole("button", { name: "Choose a phrase" }).waitFor();
  await other.close();
});

const key = "sk-pasted-by-hand-3e81b7c2";
const name = "Connect a model";
const form = () => it.page.getByRole("form", { name });
let model;
after(() => model?.stop());

/** The files below a folder that hold a text. */
async function holding(folder, text) {
  const found = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && (await readFile(path)).includes(text)) found.push(path);
  }
  return found;
}

test("a model is connected by hand, and its key is nowhere but in its file", { skip }, async () => {
  model = await startModel();
  const { page, choir } = it;
  const addresses = [];
  page.on("request", (request) => addresses.push(request.url()));
  await page.goto(`${choir.address}/models`);
  await form().getByLabel("Key").fill("sk-for-another-service");
  await form().getByLabel("Service").selectOption("compatible");
  assert.equal(await form().getByLabel("Key").inputValue(), "", "the key of one service goes to another");
  await form()
    .getByLabel("Address")
    .fill(`http://127.0.0.1:${await freePort()}/v1`);
  await form().getByLabel("Key").fill(key);
  await form().getByLabel("Model", { exact: true }).fill("scripted-1");
  await form().getByLabel("It is free").check();
  assert.equal(await page.locator("iframe").count(), 0, "the desktop is in the page");
  const took = await fastest(3_000, async () => {
    const began = performance.now();
    const answered = page.waitForResponse((r) => r.request().method() === "POST");
    await form().getByRole("button", { name: "Test and connect" }).click();
    await answered;
    await form().getByRole("alert").getByText("connection refused").waitFor();
    return performance.now() - began;
  });
  assert.ok(took < 3_000, `a dead address is told after ${took} ms`);
  await inspect(page, "settings-connect-failed", size);
  assert.deepEqual(await holding(choir.data, key), [], "a failed test kept the key");

  await form().getByLabel("Address").fill(model.url);
  await page.setViewportSize({ width: 1200, height: 500 });
  await form().getByRole("button", { name: "Test and connect" }).click();
  await form()
    .getByRole("status")
    .getByText(/answered in .* s/)
    .waitFor();
  await page.getByRole("definition").filter({ hasText: "scripted-1" }).first().waitFor();
  // The success is read out and in sight, on a page that what was connected made longer.
  await page.waitForFunction(() => {
    const told = document.activeElement;
    const { top, bottom } = told.getBoundingClientRect();
    return told.role === "status" && top >= 0 && bottom <= innerHeight;
  });
  await page.setViewportSize(size);
  await inspect(page, "settings-connected", size);
  assert.equal(await form().getByLabel("Key").inputValue(), "", "the key is still in the page");
  assert.ok(model.keys.has(`Bearer ${key}`));

  await page.goto(`${choir.address}/runs`);
  await ask(page, "hello");
  await page.getByText("Hello! What shall we do?").first().waitFor();
  const { body } = await api(page, "/events?limit=1000");
  assert.ok(
    body.events.some((e) => e.type === "model.returned" && e.payload.caller === "owner"),
    "the test is not in the log",
  );
  await page.goto(`${choir.address}/models/keys`);
  const file = join(choir.data, "keys", "models", new URL(model.url).host.replace(":", "-"));
  await page.getByText(file).waitFor();

  assert.deepEqual(await holding(choir.data, key), [file]);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  for (const [what, text] of Object.entries({
    events: JSON.stringify(body),
    addresses: addresses.join("\n"),
    "the output of choir": choir.said(),
    page: await page.content(),
    "the answer of settings": await page.evaluate(async () => (await fetch("/api/settings")).text()),
  }))
    assert.ok(!text.includes(key), `the key is in ${what}`);
});

test("a form shows the arrow of its lists, and brings what failed into sight with words that fit it", {
  skip,
}, async () => {
  const { page, choir } = it;
  await page.setViewportSize({ width: 1200, height: 500 });
  await page.goto(`${choir.address}/models`);
  for (const label of ["Service", "Used by"]) {
    const arrow = await form()
      .getByLabel(label)
      .evaluate((select) => getComputedStyle(select).backgroundImage);
    assert.match(arrow, /gradient/, `${label} has no arrow`);
  }
  await form().getByLabel("Service").selectOption("compatible");
  await form()
    .getByLabel("Address")
    .fill(`http://127.0.0.1:${await freePort()}/v1`);
  await form().getByLabel("Model", { exact: true }).fill("scripted-2");
  await form().getByRole("button", { name: "Test and connect" }).click();
  const alert = form().getByRole("alert").and(page.locator(":focus"));
  await alert.getByText("correct the address in this form").waitFor();
  const { y, height } = await alert.boundingBox();
  assert.ok(y >= 0 && y + height <= 500, `the failure stands from ${y} to ${y + height} of 500`);
});

test("a model is tried before its price is asked for, and connected with it", { skip }, async () => {
  const { page } = it;
  await form().getByLabel("Address").fill(model.url);
  await form().getByRole("button", { name: "Test and connect" }).click();
  const price = form().getByLabel("US dollars per million tokens of input");
  await price.and(page.locator(":focus")).waitFor();
  const asks = form()
    .getByRole("alert")
    .filter({ hasText: /answered in .* s, and choir does not know what it costs/ });
  await asks.waitFor();
  const bar = await page.locator("header").first().boundingBox();
  assert.ok(
    (await asks.boundingBox()).y >= bar.y + bar.height,
    "the words stand above the part of the page that is seen",
  );
  await page.keyboard.type("2");
  await form().getByLabel("US dollars per million tokens of output").fill("4");
  await form().getByRole("button", { name: "Test and connect" }).click();
  await form()
    .getByRole("status")
    .getByText(/answered in .* s/)
    .waitFor();
  await page.setViewportSize(size);
});

test("a connection survives a restart, and is removed with its key", { skip }, async () => {
  const { page, choir } = it;
  await choir.kill();
  await choir.again();
  await page.goto(`${choir.address}/models`);
  await row("connected here")
    .getByRole("button", { name: /^Remove/ })
    .click();
  await row("connected here")
    .getByRole("button", { name: /and its key/ })
    .click();
  await row("connected here").waitFor({ state: "detached" });
  await page.getByText("no model is connected for the Associate").waitFor();
  assert.deepEqual(await holding(choir.data, key), []);
});
