// How work is begun: an empty document, a list that is typed in, a file in Code.
import assert from "node:assert/strict";
import { test } from "node:test";
import { desktopOf } from "../lib/desktop.js";
import { typeAfter } from "../lib/keyboard.js";
import { api, rig, skip } from "../lib/rig.js";
import { reloadDesktop } from "../lib/states.js";
import { closeAll, writeFile } from "../lib/windows.js";

const it = rig({ desktop: true, model: true });
const desk = () => desktopOf(it.page);
const app = (id) => desk().locator(`[data-app="${id}"]`);
const focused = (selector) => desk().locator(`${selector}:focus`).waitFor();

const create = (title, content = `# ${title}`) =>
  api(it.page, "/documents", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ title, content }),
  });

async function launch(words, kind) {
  await it.page.keyboard.press("Control+k");
  const launcher = desk().getByRole("dialog", { name: "Launcher" });
  await launcher.waitFor();
  await it.page.keyboard.type(words);
  await launcher.locator(`[data-kind="${kind}"][aria-selected="true"]`).filter({ hasText: words }).waitFor();
  await it.page.keyboard.press("Enter");
  await launcher.waitFor({ state: "detached" });
}

/** Opens something by the prompt, which gives its window the keyboard. */
async function open(subject) {
  await desk().locator("#prompt").fill(`?open ${subject}`);
  await desk().locator("#prompt").press("Enter");
}

test("New document in the launcher is an empty page with the cursor in it, though there are others", {
  skip,
}, async () => {
  await create("The answer of a run");
  await launch("New document", "kindAction");
  await focused(".writer-text");
  assert.equal(
    await desk()
      .locator(".writer-text")
      .innerText()
      .then((text) => text.trim()),
    "",
  );
  await closeAll(it.page);
});

test("what was typed before a quick reload is saved by itself, without another key", { skip }, async () => {
  const { body: doc } = await create("Plans", "");
  await open(`document:${doc.id}`);
  await focused(".writer-text");
  const saves = `**/documents/${doc.id}/versions/1`;
  await it.context.route(saves, (route) => (route.request().method() === "PUT" ? route.abort() : route.continue()));
  await it.page.keyboard.type("Plans for the pond");
  await reloadDesktop(it.page);
  await app("writer").locator(".writer-text").getByText("Plans for the pond").waitFor();
  await it.context.unroute(saves);
  await app("writer").getByText("First version").waitFor();
  await app("writer").locator('.writer-state[data-saved="true"]').waitFor();
  assert.equal((await api(it.page, `/documents/${doc.id}?version=1`)).body.content, "Plans for the pond");
  await closeAll(it.page);
});

test("a space in the middle of typing opens no document of the list; Enter does", { skip }, async () => {
  await create("My first page");
  await create("My second page");
  await launch("Writer", "kindApp");
  const win = app("writer");
  await focused(".writer-list button");
  await typeAfter(it.page, 200, "my f");
  await win.locator(".writer-list button:focus").filter({ hasText: "My first page" }).waitFor();
  assert.equal(await win.locator(".writer-text").count(), 0, "a document was opened");
  await it.page.keyboard.press("Enter");
  await win.locator(".writer-text").waitFor();
  await closeAll(it.page);
});

test("a space in the middle of a file's name shows no preview; it goes on to the file", { skip }, async () => {
  for (const name of ["my first.txt", "my second.txt"]) await writeFile(it.page, `workspace/lily/${name}`, "x");
  await open("workspace/lily/");
  const win = app("files");
  await win.getByRole("option").first().waitFor();
  await focused('[role="listbox"]');
  await typeAfter(it.page, 200, "my s");
  await win.locator('[role="option"][aria-selected="true"]').filter({ hasText: "my second.txt" }).waitFor();
  assert.equal(await win.locator(".files-preview").count(), 0, "the preview was opened");
  await closeAll(it.page);
});

test("Code without a file leads to one by its name, which takes the empty window, and to a new one", {
  skip,
}, async () => {
  await writeFile(it.page, "workspace/lily/pads.py", "pads = 3\n");
  await launch("Code", "kindApp");
  await app("code").getByRole("button", { name: "Open a file" }).click();
  const launcher = desk().getByRole("dialog", { name: "Launcher" });
  await launcher.waitFor();
  await it.page.keyboard.type("pads.py");
  await launcher.locator('[data-kind="kindFile"][aria-selected="true"]').waitFor();
  await it.page.keyboard.press("Enter");
  await app("code").locator(".cm-content").filter({ hasText: "pads = 3" }).waitFor();
  assert.equal(await app("code").count(), 1, "the empty window stayed beside it");

  await launch("Code", "kindApp");
  const empty = app("code").filter({ has: it.page.locator('[data-state="empty"]') });
  await empty.getByRole("button", { name: "New file" }).click();
  await desk().locator(".ask-name input").fill("lily/roots.py");
  await it.page.keyboard.press("Enter");
  await app("code").locator(".code-path").getByText("workspace/lily/roots.py").waitFor();
  await focused(".cm-content");
  await closeAll(it.page);
});

test("the words of a model that only talks stand on the card; words that are in the prompt are not offered", {
  skip,
}, async () => {
  const prompt = desk().locator("#prompt");
  await prompt.fill("chat about France");
  await prompt.press("Enter");
  const card = desk().locator('.card[data-state="failed"]').filter({ hasText: "chat about France" });
  await card.locator("blockquote").getByText("Paris, **of** <b>course</b>.", { exact: true }).waitFor();
  const again = card.getByRole("button", { name: "Put my words back" });
  await again.waitFor({ state: "detached" });
  assert.equal(await prompt.inputValue(), "chat about France");
  await prompt.fill("something else");
  await again.click();
  await again.waitFor({ state: "detached" });
  assert.equal(await prompt.inputValue(), "chat about France");
  await prompt.fill("");
});

test("how long ago a file was changed goes on while the list is looked at", { skip }, async () => {
  await writeFile(it.page, "workspace/clock/tick.txt", "x");
  await it.page.clock.install();
  await open("workspace/clock/");
  const time = app("files").locator(".files-time");
  await time.waitFor();
  await it.page.clock.fastForward(61_000);
  await time.getByText(/\dm ago/).waitFor();
});
