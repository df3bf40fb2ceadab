import assert from "node:assert/strict";
import { test } from "node:test";
import { openBrowser } from "../lib/browser.js";
import { api, rig, skip } from "../lib/rig.js";

const it = rig();

test("the page opens within seconds with the prompt focused", { skip }, async () => {
  assert.ok(it.choir.startMs < 5_000, `choir up took ${it.choir.startMs} ms`);
  assert.ok(it.promptMs < 5_000, `the page took ${it.promptMs} ms`);
  assert.equal(await it.page.evaluate(() => document.activeElement?.id), "prompt");
});

test("the login token leaves the address", { skip }, async () => {
  assert.equal(new URL(it.page.url()).hash, "");
  assert.equal(new URL(it.page.url()).pathname, "/plain");
});

test("a login link works once", { skip }, async () => {
  const other = await openBrowser();
  try {
    await other.page.goto(it.choir.login);
    await other.page.getByRole("alert").waitFor();
    assert.match(await other.page.getByRole("alert").innerText(), /used already.*choir up --link/s);
  } finally {
    await other.close();
  }
});

test("without a model it says so, says how to connect one, and offers the demo", { skip }, async () => {
  const notice = it.page.getByRole("region", { name: "No model is connected" });
  assert.match(await notice.innerText(), /No model is connected/);
  await notice.getByText("How to connect a model").click();
  await notice.getByText("key_env").waitFor();
  assert.ok(await notice.getByRole("button", { name: "Play the recorded demo" }).isEnabled());
});

test("the demo: plan, task, verification, checkpoint, finished document", { skip }, async () => {
  const { page } = it;
  await page.getByRole("button", { name: "Play the recorded demo" }).click();
  const run = page.locator(".run-bar");
  await run.getByText("Done", { exact: true }).waitFor();
  await run.getByText("Recording").waitFor();
  await run.getByText("Signed by the Director").waitFor();
  const work = page.getByRole("tabpanel", { name: "Work" });
  assert.ok((await work.getByRole("heading", { level: 3 }).count()) >= 1, "no steps of the plan are shown");
  await work.getByText("Verified", { exact: true }).first().waitFor();
  const document = page.getByRole("article").filter({ has: page.getByRole("heading", { level: 1 }) });
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
  await page.locator(".run-bar").getByText("Signed by the Director").waitFor();
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

test("nothing was complained about on the console", { skip }, () => assert.deepEqual(it.complaints, []));
