import assert from "node:assert/strict";
import { test } from "node:test";
import { openBrowser } from "../lib/browser.js";
import { desktopOf, enterDesktop, frameOf } from "../lib/desktop.js";
import { api, rig, skip } from "../lib/rig.js";

const it = rig();

test("the page opens within seconds with the prompt focused", { skip }, async () => {
  assert.ok(it.choir.startMs < 5_000, `choir up took ${it.choir.startMs} ms`);
  assert.ok(it.promptMs < 5_000, `the page took ${it.promptMs} ms`);
  assert.equal(await it.page.evaluate(() => document.activeElement?.id), "prompt");
});

test("the login token leaves the address", { skip }, async () => {
  assert.equal(new URL(it.page.url()).hash, "");
  assert.equal(new URL(it.page.url()).pathname, "/runs");
});

const onward = (page) => page.getByRole("link", { name: "Go on with the session of this browser" });

test("a login link works once, and where no session is none is offered to go on with", { skip }, async () => {
  const other = await openBrowser();
  try {
    await other.page.goto(it.choir.login);
    await other.page.getByRole("heading", { name: "You are not logged in" }).waitFor();
    assert.match(await other.page.getByRole("alert").innerText(), /used already.*choir up --link/s);
    assert.equal(await onward(other.page).count(), 0, "a session is offered where there is none");
    const broken = await other.page
      .locator("code")
      .evaluateAll((codes) => codes.filter((code) => code.getClientRects().length > 1).map((code) => code.textContent));
    assert.deepEqual(broken, [], "a command is broken over two lines");
  } finally {
    await other.close();
  }
});

test("a browser in German is refused in German", { skip }, async () => {
  const other = await openBrowser({ locale: "de-DE" });
  try {
    await other.page.goto(it.choir.login);
    const said = await other.page.getByRole("alert").innerText();
    assert.match(
      said,
      /^Dieser Anmeldelink wurde schon benutzt oder ist nicht der neueste\. Einen neuen ausgeben lassen/,
    );
  } finally {
    await other.close();
  }
});

test("a link used already leads a browser on that is logged in", { skip }, async () => {
  const second = await it.context.newPage();
  try {
    await second.goto(it.choir.login);
    await second.getByRole("heading", { name: "You are logged in already" }).waitFor();
    await onward(second).click();
    await desktopOf(second).locator("#prompt").waitFor();
  } finally {
    await second.close();
  }
});

test("a new link put into the address of a page that is not logged in opens the computer", { skip }, async () => {
  const other = await openBrowser();
  try {
    await other.page.goto(`${it.choir.address}/login`);
    await other.page.getByRole("heading", { name: "You are not logged in" }).waitFor();
    // The address differs behind the # only, for which a browser loads nothing anew.
    await other.page.goto(await it.choir.link());
    await desktopOf(other.page).locator("#prompt").waitFor();
    assert.equal(new URL(other.page.url()).hash, "");
    assert.equal(await other.page.locator("iframe").count(), 1);
  } finally {
    await other.close();
  }
});

test("without a model it says so, leads to where one is connected, and offers the demo", { skip }, async () => {
  const notice = it.page.getByRole("region", { name: "No model is connected" });
  assert.match(await notice.innerText(), /No model is connected/);
  await notice.getByRole("button", { name: "Connect a model" }).click();
  await it.page.getByRole("form", { name: "Connect a model" }).getByLabel("Key").waitFor();
  await it.page.getByText("key_file =").waitFor();
  await it.page.goBack();
  assert.ok(await notice.getByRole("button", { name: "Play the recorded demo" }).isEnabled());
});

test("the demo: plan, task, verification, checkpoint, finished document", { skip }, async () => {
  const { page } = it;
  await page.getByRole("button", { name: "Play the recorded demo" }).click();
  const run = page.locator(".run-bar");
  await run.getByText("Done", { exact: true }).waitFor();
  await run.getByText("Recording").waitFor();
  await run.getByText("Signature verified").waitFor();
  const work = page.getByRole("tabpanel", { name: "Work" });
  assert.ok((await work.getByRole("heading", { level: 2 }).count()) >= 1, "no steps of the plan are shown");
  await work.getByText("Verified", { exact: true }).first().waitFor();
  const document = page.getByRole("article").filter({ has: page.getByRole("heading") });
  assert.match(await document.innerText(), /v(\d+) of \1/);
  assert.match(await document.innerText(), /Done\./);
});

test("the document goes back and forth through its versions", { skip }, async () => {
  const label = it.page.locator(".document-label");
  const newest = await label.innerText();
  await it.page.getByRole("button", { name: "Earlier version" }).click();
  assert.notEqual(await label.innerText(), newest);
  await it.page.getByRole("button", { name: "Newest" }).click();
  assert.equal(await label.innerText(), newest);
});

test("the diff of the change can be read", { skip }, async () => {
  await it.page.getByRole("tab", { name: /^Changes/ }).click();
  await it.page.locator(".diff-add").first().waitFor();
});

test("each step of the run is a mark on the timeline, and leads into the past", { skip }, async () => {
  const { page } = it;
  await page.getByRole("tab", { name: "Timeline" }).click();
  const marks = page.getByRole("list", { name: /^What happened/ });
  await marks.getByRole("button", { name: /^Project tally added/ }).waitFor();
  await marks.getByRole("button", { name: /^edit_file changed bin\/tally/ }).click();
  await page.getByText(/^You are looking at .* Nothing is changed\.$/).waitFor();
  await page.goBack();
  await page.locator(".run-bar").waitFor();
});

test("every event is a sentence, found by words, with its JSON", { skip }, async () => {
  const { page } = it;
  await page.getByRole("tab", { name: "Events" }).click();
  await page.getByLabel("Filter events").fill("planned");
  const row = page.locator(".event").first();
  assert.match(await row.innerText(), /The Director planned .* step/);
  await row.locator("summary").click();
  assert.match(await row.locator("pre").innerText(), /"type": "plan.made"/);
});

test("a reload shows the same run, from the server alone", { skip }, async () => {
  const { page } = it;
  const url = page.url();
  await page.reload();
  await page.locator(".run-bar").getByText("Signature verified").waitFor();
  assert.equal(page.url(), url);
  const kept = await page.evaluate(async () => [
    localStorage.length,
    sessionStorage.length,
    (await indexedDB.databases()).length,
  ]);
  assert.deepEqual(kept, [0, 0, 0]);
});

test("a checkpoint by hand, and nothing to commit is not an error", { skip }, async () => {
  await it.page.getByRole("tab", { name: "Timeline" }).click();
  await it.page.getByRole("button", { name: "Make a checkpoint" }).click();
  await it.page.getByRole("button", { name: /^Checkpoint/ }).waitFor();
  const { body } = await api(it.page, "/checkpoints");
  assert.equal(body[0].trigger, "manual");
});

test("on the desktop a prompt without a model says why it failed and what to do, and comes back to be sent again", {
  skip,
}, async () => {
  await enterDesktop(it.page);
  const desk = desktopOf(it.page);
  await desk.getByRole("button", { name: "Connect a model" }).waitFor();
  const words = await desk.getByRole("list", { name: "Words to try" }).getByRole("button").first().innerText();
  await desk.getByRole("list", { name: "Words to try" }).getByRole("button").first().click();
  const prompt = desk.locator("#prompt");
  assert.equal(await prompt.inputValue(), words);
  await prompt.press("Enter");
  const card = desk.locator(".card[data-unfolded=true][data-state=failed]");
  await card.getByText(/no model is connected.*There was no plan yet and nothing was changed\./s).waitFor();
  await (await frameOf(it.page)).waitForFunction((w) => document.querySelector("#prompt").value === w, words);
  // What was begun by the shell is a line; nothing of checkpoints is said.
  assert.equal(await desk.locator(".card[data-unfolded=false]").count(), 1);
  await card.getByRole("button", { name: "Look at the models" }).click();
  await it.page.waitForURL("**/models");
});

test("nothing was complained about on the console", { skip }, () => assert.deepEqual(it.complaints, []));
