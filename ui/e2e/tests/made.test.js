// What was asked for is a document of its own, and the record of the run lies behind it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { rig, skip } from "../lib/rig.js";
import { desktopAPI, desktopOf, known, until, writeFile } from "../lib/windows.js";

const it = rig({ desktop: true, model: true });
const appOf = (app) => desktopOf(it.page).locator(`.window[data-app=${app}]`);
const card = () => desktopOf(it.page).locator(".card[data-unfolded=true]");

test("the document that was asked for opens by itself, once, and is one of Writer's", { skip }, async () => {
  await writeFile(it.page, "workspace/bird.txt", "wren\n");
  await desktopOf(it.page).locator("#prompt").fill("report on birds");
  await desktopOf(it.page).locator("#prompt").press("Enter");
  await appOf("writer").getByText("The wren is small.").waitFor();
  const { windows } = await known(it.page);
  assert.deepEqual(
    windows.map((w) => w.app),
    ["writer"],
  );
  const { body } = await desktopAPI(it.page, "/documents");
  assert.equal(body.filter((d) => d.title === "A report on birds").length, 1);
});

test("the card opens it again, and leads to the record", { skip }, async () => {
  const [{ id }] = (await known(it.page)).windows;
  await desktopAPI(it.page, `/windows/${id}/close`, { method: "POST" });
  await until(it.page, (state) => state.windows.length === 0);
  await card().getByRole("button", { name: "Open document" }).click();
  await appOf("writer").getByText("The wren is small.").waitFor();
  await card().getByRole("button", { name: "Record" }).click();
  await appOf("writer").getByText("The report is written").waitFor();
});

test("a path in the answer opens the file", { skip }, async () => {
  await card().getByRole("button", { name: "workspace/bird.txt" }).click();
  await until(it.page, (state) => state.windows.some((w) => w.subject === "workspace/bird.txt"));
});

test("nothing was complained about on the console", { skip }, () => assert.deepEqual(it.complaints, []));
