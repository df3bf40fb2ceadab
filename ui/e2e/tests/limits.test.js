import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { ask, rig, skip } from "../lib/rig.js";

const it = rig({ model: true });
const connection = () => it.page.locator(".connection");

/** The built shell, as it is embedded. */
const assets = new URL("../../../internal/webui/dist/shell/assets/", import.meta.url);

const unbuilt = skip || (existsSync(assets) ? false : "the shell is not built: make ui");

test("the sixth prompt in ten seconds waits, and is kept", { skip }, async () => {
  const { page } = it;
  for (let n = 1; n <= 5; n++) await ask(page, `hello ${n}`);
  await page.fill("#prompt", "hello 6");
  await page.press("#prompt", "Enter");
  await page.getByText(/^Try again in \d+ s$/).waitFor();
  await page.getByText(/More than 5 prompts/).waitFor();
  assert.equal(await page.inputValue("#prompt"), "hello 6");
  // Told by the browser itself for every answer that is not a success.
  assert.match(it.complaints.splice(0).join(), /429/);
  await page.getByRole("button", { name: "Send" }).and(page.locator(":enabled")).waitFor();
  await ask(page, "hello 6");
});

test("a crash is seen, and after the restart the page goes on", { skip }, async () => {
  const { page, choir } = it;
  await connection().getByText("Live").waitFor();
  await choir.kill();
  await connection().getByText("Reconnecting").waitFor();
  await choir.again();
  await connection().getByText("Live").waitFor();
  await ask(page, "hello after the crash");
  await page.locator(".run-bar").getByText("Signature verified").waitFor();
});

test("an answer from before the restart is still known as the Director's", { skip }, async () => {
  const { page } = it;
  await page.reload();
  await page.getByRole("link", { name: /hello 1/ }).click();
  await page.locator(".run-bar").getByText("Signature verified").waitFor();
});

test("no page of the shell needs more than 250 KB of script", { skip: unbuilt }, async () => {
  const { page, choir } = it;
  const run = new URL(page.url()).pathname;
  assert.match(run, /^\/runs\/./);
  for (const path of [
    "/time",
    "/recover",
    "/models",
    "/models/keys",
    "/models/hosts",
    "/models/limits",
    "/runs",
    run,
  ]) {
    await page.goto(`${choir.address}${path}`);
    await connection().getByText("Live").waitFor();
    await page.locator("main").getByRole("heading").first().waitFor();
    if (path === run) await page.locator(".run-bar").getByText("Signature verified").waitFor();
    const names = await page.evaluate(() =>
      performance.getEntriesByType("resource").map((entry) => /\/assets\/([^/]+\.js)$/.exec(entry.name)?.[1]),
    );
    let size = 0;
    for (const name of new Set(names.filter(Boolean))) size += gzipSync(await readFile(new URL(name, assets))).length;
    assert.ok(size > 50_000 && size <= 250_000, `${path}: ${size} bytes`);
  }
});

test("a computer that cannot be reached at all is said, with a way to try again", { skip }, async () => {
  const { page, choir } = it;
  await choir.kill();
  await connection().getByText("Reconnecting").waitFor();
  await page.fill("#prompt", "hello nobody");
  await page.press("#prompt", "Enter");
  await page.getByText("The computer cannot be reached").waitFor();
  assert.equal(await page.inputValue("#prompt"), "hello nobody");
});

/** What comes only with another language: its texts, and its sentences of problems, in bytes of gzip. */
const languages = { de: 13_000, problemsaid: 14_000 };

test("another language is at most 27 KB of script", { skip: unbuilt }, async () => {
  const files = (await readdir(assets)).filter((file) => file.endsWith(".js"));
  for (const [language, most] of Object.entries(languages)) {
    const name = files.find((file) => file.startsWith(`${language}-`));
    const size = gzipSync(await readFile(new URL(name, assets))).length;
    assert.ok(size <= most, `${language}: ${size} bytes`);
  }
});
