import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { fastest, untilHolds } from "../lib/limits.js";
import { lingering } from "../lib/model.js";
import { api, ask, rig, skip } from "../lib/rig.js";

const it = rig({ model: true, config: "[limits]\nprompt_burst = 100\n" });
const bar = () => it.page.locator(".run-bar");

/** How many processes of this machine run a command. */
async function running(command) {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  // A process that ends meanwhile does not run.
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return lines.filter((line) => line.replaceAll("\0", " ").trim() === command).length;
}

test("Shift+Enter breaks the line, Escape clears, Enter sends", { skip }, async () => {
  const { page } = it;
  const prompt = page.locator("#prompt");
  await prompt.pressSequentially("hello");
  await prompt.press("Shift+Enter");
  await prompt.pressSequentially("again");
  assert.equal(await prompt.inputValue(), "hello\nagain");
  await prompt.press("Escape");
  assert.equal(await prompt.inputValue(), "");
  const run = await ask(page, "hello");
  await page.waitForFunction(() => document.querySelector("#prompt").value === ""); // once the page has drawn that it was sent
  assert.match(run, /^[0-9a-f-]{36}$/);
});

test("a greeting gets a signed toast and opens no document", { skip }, async () => {
  const { page } = it;
  const run = await ask(page, "hello you");
  await page.locator("[data-sonner-toast]").getByText("Hello! What shall we do?").first().waitFor();
  await bar().getByText("Signature verified").waitFor();
  const { body } = await api(page, `/runs/${run}`);
  assert.equal(body.document ?? "", "");
});

test("Ctrl+K opens the launcher, which acts by keyboard alone", { skip }, async () => {
  const { page } = it;
  await page.keyboard.press("Control+k");
  const launcher = page.getByRole("dialog", { name: "Launcher" });
  await launcher.waitFor();
  await page.keyboard.type("without the desktop");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/runs");
  await page.keyboard.press("Control+k");
  await page.keyboard.press("Escape");
  await launcher.waitFor({ state: "detached" });
});

test("words appear while the model says them", { skip }, async () => {
  const { page } = it;
  await ask(page, "slowly think about it");
  const live = page.locator(".run-live p");
  await live.waitFor();
  const first = (await live.innerText()).length;
  await page.waitForFunction((n) => (document.querySelector(".run-live p")?.textContent ?? "").length > n + 40, first);
  await page.keyboard.press("Control+.");
  await bar().getByText("Stopped", { exact: true }).waitFor();
});

test("one key stops a run within a second, with its processes", { skip }, async () => {
  const { page } = it;
  const took = await fastest(1_000, async () => {
    await ask(page, "linger please");
    await page.getByText("begun").waitFor();
    assert.ok((await running(lingering)) > 0, "the command does not run");
    const began = performance.now();
    await page.keyboard.press("Control+.");
    await bar().getByText("Stopped", { exact: true }).waitFor();
    await untilHolds(page, async () => (await running(lingering)) === 0, "the end of its processes");
    return performance.now() - began;
  });
  assert.ok(took < 1_000, `stopping took ${took} ms`);
});

test("a paused run ends the command in hand, begins no other, also after a reload, and goes on", { skip }, async () => {
  const { page } = it;
  await ask(page, "pausable work");
  await page.getByText("first begun").waitFor();
  await bar().getByRole("button", { name: "Pause" }).click();
  await bar().getByText("Paused", { exact: true }).waitFor();
  await api(page, "/files/workspace/first-may-end", { method: "PUT", headers: { "If-Match": "*" }, body: "now" });
  // A list, because the browser complains about each file that is not there.
  const there = async (name) =>
    ((await api(page, "/files?prefix=workspace/")).body ?? []).some(({ path }) => path === `workspace/${name}`);
  await untilHolds(page, () => there("first-ended"), "the first command has ended");
  await page.reload();
  await bar().getByText("Paused", { exact: true }).waitFor();
  assert.equal(await there("second"), false);
  await bar().getByRole("button", { name: "Go on" }).click();
  await bar().getByText("Done", { exact: true }).waitFor();
});

test("what is added while it works reaches the run", { skip }, async () => {
  const { page } = it;
  const run = await ask(page, "linger again");
  await page.getByText("begun").waitFor();
  await page.getByRole("button", { name: "Add to this run" }).click();
  await page.getByRole("textbox", { name: "Add to this run" }).fill("and be quick");
  await page.keyboard.press("Enter");
  await page.getByText("You added: and be quick").waitFor();
  assert.ok(page.url().endsWith(run), "a new run was begun instead");
  await page.keyboard.press("Control+.");
  await bar().getByText("Stopped", { exact: true }).waitFor();
});

test("a question waits, does not block others, and is answered by a choice", { skip }, async () => {
  const { page } = it;
  const waiting = await ask(page, "ask me something");
  const question = page.getByRole("region", { name: "Question" });
  await question.getByText("Which colour shall it be?").waitFor();
  await ask(page, "hello meanwhile");
  await bar().getByText("Done", { exact: true }).waitFor();
  await page.locator(`a[href="/runs/${waiting}"]`).click();
  await question.getByRole("button", { name: "Blue" }).click();
  await bar().getByText("Done", { exact: true }).waitFor();
  await page.getByRole("article").getByText("Blue").first().waitFor();
});

test("a failed attempt can be read, and the tree is as it was", { skip }, async () => {
  const { page } = it;
  await ask(page, "break it");
  await bar().getByText("Failed", { exact: true }).waitFor();
  await page.getByText("Verification failed", { exact: true }).first().waitFor();
  await page.getByRole("tab", { name: /^Changes/ }).click();
  await page.getByText("Attempt only: the workspace was put back").waitFor();
  await page.locator(".diff-add").getByText("attempted").waitFor();
  const { body } = await api(page, "/files?prefix=workspace/attempt");
  assert.deepEqual(body ?? [], []);
});

test("a prompt near its limit shows what is left, and beyond it cannot be sent", { skip }, async () => {
  const { page } = it;
  await page.fill("#prompt", "x".repeat(19_990));
  await page.getByText("10 left").waitFor();
  await page.fill("#prompt", "x".repeat(20_001));
  await page.getByText("1 too many").waitFor();
  assert.ok(await page.getByRole("button", { name: "Send" }).isDisabled());
  await page.press("#prompt", "Escape");
});

test("a second page shows what happens in the first", { skip }, async () => {
  const other = await it.context.newPage();
  await other.goto(`${it.choir.address}/runs`);
  await other.waitForSelector("#prompt");
  const run = await ask(it.page, "hello from the first page");
  await other.locator(`a[href="/runs/${run}"]`).getByRole("img", { name: "Done" }).waitFor();
  await other.close();
});

test("nothing was complained about on the console", { skip }, () => assert.deepEqual(it.complaints, []));
