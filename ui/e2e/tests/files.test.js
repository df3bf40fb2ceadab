import assert from "node:assert/strict";
import { linkSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { frameOf } from "../lib/desktop.js";
import { pdf, png, recordFilm, wav } from "../lib/fixtures.js";
import { PATIENCE_MS } from "../lib/limits.js";
import { rig, skip } from "../lib/rig.js";
import { HELD_MS, leastHeld } from "../lib/tasks.js";
import { closeAll, desktopAPI, desktopOf, openWindow, writeFile } from "../lib/windows.js";

const it = rig({ desktop: true, browser: { stock: true } });
let win;
const desk = () => desktopOf(it.page);
const entry = (name) => win.getByRole("option").filter({ hasText: name });
const press = (keys) => win.getByRole("listbox").press(keys);
const choose = (name) => entry(name).click();
const named = async (name) => {
  await desk().locator(".ask-name input").fill(name);
  await it.page.keyboard.press("Enter");
};
const there = async (path) => (await desktopAPI(it.page, `/files/${path}`, { method: "HEAD" })).status === 200;

test("a folder is listed, walked by keyboard, and opens what it holds", { skip }, async () => {
  await writeFile(it.page, "workspace/pond/heron.csv", "bird,cm\nheron,90\n");
  await writeFile(it.page, "workspace/pond/owl.txt", "owl");
  ({ win } = await openWindow(it.page, "files", "workspace/"));
  await choose("pond");
  await press("Enter");
  await entry("heron.csv").waitFor();
  await press("Home");
  await press("Enter");
  await desk().locator('[data-app="viewer"]').getByRole("cell", { name: "90" }).waitFor();
  await it.page.keyboard.press("Control+Alt+w");
});

test("a new folder, a new name, a copy, a move, and each undone", { skip }, async () => {
  await press("Control+Shift+N");
  await named("reeds");
  await entry("reeds").waitFor();
  await choose("owl.txt");
  await press("F2");
  await named("barn owl.txt");
  await entry("barn owl.txt").waitFor();
  await desk().getByRole("button", { name: "Undo" }).first().click();
  await entry(/^owl\.txt/).waitFor();
  await choose("owl.txt");
  await press("Control+c");
  await choose("reeds");
  await press("Enter");
  await win.getByText("This folder is empty").waitFor();
  await win.getByRole("button", { name: "Actions" }).click();
  await desk().getByRole("menuitem", { name: "Paste" }).click();
  await entry("owl.txt").waitFor();
  assert.ok(await there("workspace/pond/reeds/owl.txt"));
  assert.ok(await there("workspace/pond/owl.txt"));
  await win.getByRole("button", { name: "pond", exact: true }).click();
  await entry("heron.csv").waitFor();
});

test("a name that leads elsewhere or is taken is refused before it is sent", { skip }, async () => {
  await choose("owl.txt");
  await press("F2");
  for (const [name, why] of [
    ["../owl.txt", "A name has no slash"],
    ["..", "This name means a folder"],
    ["heron.csv", "This name is taken"],
  ]) {
    await desk().locator(".ask-name input").fill(name);
    await desk().getByText(why).waitFor();
  }
  await it.page.keyboard.press("Escape");
  await desk().locator(".ask-name").waitFor({ state: "detached" });
});

test("the trash takes several at once, and gives them back", { skip }, async () => {
  await choose("heron.csv");
  await entry("owl.txt").click({ modifiers: ["Control"] });
  await press("Delete");
  await entry("heron.csv").waitFor({ state: "detached" });
  assert.equal(await there("workspace/pond/heron.csv"), false);
  await win.getByRole("button", { name: "Trash", exact: true }).click();
  await entry("heron.csv").click();
  await win.getByRole("button", { name: "Actions" }).click();
  await desk().getByRole("menuitem", { name: "Put back" }).click();
  await entry("heron.csv").waitFor({ state: "detached" });
  assert.ok(await there("workspace/pond/heron.csv"));
  await win.getByRole("button", { name: "Trash", exact: true }).click();
});

test("files dropped from outside are uploaded, and a search finds them", { skip }, async () => {
  const frame = await frameOf(it.page);
  await win.getByRole("option").filter({ hasText: "workspace" }).first().dblclick();
  await entry("pond").waitFor();
  await frame.evaluate(
    (id) => {
      const data = new DataTransfer();
      data.items.add(new File(["dragonfly"], "dragonfly.txt"));
      const target = document.querySelector(`[data-window="${id}"] .files-drop`);
      for (const type of ["dragover", "drop"])
        target.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    },
    await win.getAttribute("data-window"),
  );
  await entry("dragonfly.txt").waitFor();
  assert.ok(await there("workspace/dragonfly.txt"));
  await win.getByRole("searchbox").fill("HERON");
  await win.getByRole("searchbox").press("Enter");
  await entry("heron.csv").waitFor();
});

/** Drops files and folders of this machine on a window, as a file manager does. */
async function dropOn(win, paths) {
  const box = await win.locator(".files-drop").boundingBox();
  const at = { x: Math.round(box.x + box.width / 2), y: Math.round(box.y + box.height / 2) };
  const session = await it.page.context().newCDPSession(it.page);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"]) {
    await session.send("Input.dispatchDragEvent", { type, ...at, data });
  }
  await session.detach();
}

test("a dropped folder comes with all that is in it, and what cannot be read is named", { skip }, async (t) => {
  const box = mkdtempSync(join(tmpdir(), "choir-drop-"));
  t.after(() => rmSync(box, { recursive: true, force: true }));
  const pond = join(box, "pond");
  mkdirSync(join(pond, "deep/deeper"), { recursive: true });
  mkdirSync(join(pond, "empty"));
  writeFileSync(join(pond, "deep/deeper/newt.txt"), "newt");
  writeFileSync(join(pond, "frog.txt"), "frog");
  writeFileSync(join(box, "alone.txt"), "alone");
  await writeFile(it.page, "workspace/drops/pond", "the name is taken");
  const opened = await openWindow(it.page, "files", "workspace/drops/");
  await opened.win.getByRole("option").first().waitFor();
  await dropOn(opened.win, [pond, join(box, "alone.txt")]);
  await desk().getByText("3 files uploaded").waitFor();
  for (const path of ["deep/deeper/newt.txt", "frog.txt"]) {
    assert.ok(await there(`workspace/drops/pond%202/${path}`), path);
  }
  assert.ok(await there("workspace/drops/alone.txt"));
  await opened.win.getByRole("option").filter({ hasText: "pond 2" }).dblclick();
  await opened.win.getByRole("option").filter({ hasText: "empty" }).waitFor();

  // The computer refuses one of three: the others come, and the one is named with the reason.
  const refused = "**/files/workspace/drops/lake/frog.txt";
  const problem = { status: 507, code: "no_space", detail: "the disk is full" };
  await it.page
    .context()
    .route(refused, (route) =>
      route.fulfill({ status: 507, contentType: "application/problem+json", body: JSON.stringify(problem) }),
    );
  const chooser = it.page.waitForEvent("filechooser");
  await opened.win.getByRole("navigation", { name: "Path" }).getByRole("button", { name: "drops" }).click();
  await opened.win.getByRole("button", { name: "Actions" }).click();
  await desk().getByRole("menuitem", { name: "Upload a folder" }).click();
  renameSync(pond, join(box, "lake"));
  await (await chooser).setFiles(join(box, "lake"));
  await desk().getByText("lake/frog.txt was not uploaded").waitFor();
  await desk().getByText("The disk is full").waitFor();
  await it.page.context().unroute(refused);
  assert.ok(await there("workspace/drops/lake/deep/deeper/newt.txt"));
  assert.equal(await there("workspace/drops/lake/frog.txt"), false);
  await closeAll(it.page);
});

test("a dropped folder of 10,000 files says how far it is, and can be stopped", { skip }, async (t) => {
  const box = mkdtempSync(join(tmpdir(), "choir-drop-"));
  t.after(() => rmSync(box, { recursive: true, force: true }));
  mkdirSync(join(box, "many"));
  writeFileSync(join(box, "many/0.txt"), "one of many");
  for (let i = 1; i < 10_000; i++) linkSync(join(box, "many/0.txt"), join(box, `many/${i}.txt`));
  const opened = await openWindow(it.page, "files", "workspace/");
  await opened.win.locator("[data-state=loading]").waitFor({ state: "detached" });
  await dropOn(opened.win, [join(box, "many")]);
  // The browser names each of the files first.
  await opened.win.getByText(/^[1-9][\d,]* of 10,000$/).waitFor({ timeout: 3 * PATIENCE_MS });
  await opened.win.getByRole("button", { name: "Stop the upload" }).click();
  const said = await desk()
    .getByText(/^Stopped; [\d,]+ files? w/)
    .innerText();
  const sent = Number(/[\d,]+/.exec(said)[0].replace(",", ""));
  assert.ok(sent > 0 && sent < 10_000, said);
  const { body } = await desktopAPI(it.page, "/folder?limit=10000&path=workspace/many");
  // What was on its way when it was stopped may have arrived.
  assert.ok(body.entries.length === sent || body.entries.length === sent + 1, `${body.entries.length}, said: ${said}`);
  await closeAll(it.page);
});

/** Writes files into a folder of the workspace as programs do; says where it lies on this machine. */
function lay(folder, files) {
  const computers = join(it.choir.data, "computers");
  const into = join(computers, readdirSync(computers)[0], "associate/workspace/workspace", folder);
  mkdirSync(into, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(into, name), content);
  return into;
}

/** Opens a file in the viewer. */
async function view(path) {
  await closeAll(it.page);
  const { win } = await openWindow(it.page, "viewer", path, { x: 40, y: 20, width: 900, height: 620 });
  return win;
}

/** The darkest and the lightest grey of a canvas or a picture, read from its pixels. */
const tones = (locator) =>
  locator.evaluate((source) => {
    const small = Object.assign(document.createElement("canvas"), { width: 50, height: 50 });
    const pen = small.getContext("2d");
    pen.drawImage(source, 0, 0, 50, 50);
    const greys = [...pen.getImageData(0, 0, 50, 50).data].filter((_, i) => i % 4 === 0);
    return [Math.min(...greys), Math.max(...greys)];
  });

test("a PDF is drawn: of 2,000 pages those that are seen; a broken one says so", { skip }, async () => {
  lay("shown", { "long.pdf": pdf(2000), "broken.pdf": pdf(3).subarray(0, 300) });
  const win = await view("workspace/shown/long.pdf");
  const page = (n) => win.getByRole("region", { name: `Page ${n.toLocaleString("en")} of 2,000`, exact: true });
  await page(1).getByText("This is page 1").waitFor();
  const [darkest, lightest] = await tones(page(1).locator("canvas"));
  assert.ok(darkest < 128 && lightest === 255, `ink on paper, ${darkest} to ${lightest}`);
  await win.getByLabel("Go to page").fill("1999");
  await it.page.keyboard.press("Enter");
  await page(1999).getByText("This is page 1999").waitFor();
  await page(1).waitFor({ state: "detached" });
  assert.ok((await win.locator(".pdf-page").count()) < 8, "only what is near is drawn");
  await (await view("workspace/shown/broken.pdf")).getByText("the file is broken").waitFor();
});

test("sound and film play, and can be wound forward", { skip }, async () => {
  const film = Buffer.from(await (await frameOf(it.page)).evaluate(recordFilm), "base64");
  lay("shown", { "tone.wav": wav(3), "film.webm": film, "none.mp4": "no film at all" });
  for (const [name, tag] of [
    ["tone.wav", "audio"],
    ["film.webm", "video"],
  ]) {
    const win = await view(`workspace/shown/${name}`);
    const played = await win.locator(tag).evaluate(async (media) => {
      media.muted = true;
      await media.play();
      await new Promise((on) => media.addEventListener("timeupdate", () => media.currentTime > 0 && on()));
      if (media.duration === 3) {
        media.currentTime = 2;
        await new Promise((on) => media.addEventListener("seeked", on, { once: true }));
      }
      return { at: media.currentTime, length: media.duration, width: media.videoWidth };
    });
    if (tag === "audio") assert.ok(played.length === 3 && played.at >= 2, JSON.stringify(played));
    else assert.equal(played.width, 64);
  }
  await (await view("workspace/shown/none.mp4")).getByText("Its name says MP4, but it is text.").waitFor();
});

test("a picture of 100 megapixels is shown smaller, and says so; a larger one is not read", { skip }, async () => {
  lay("shown", { "big.png": png(10_000, 10_000), "huge.png": png(21_000, 21_000) });
  const win = await view("workspace/shown/big.png");
  await win.getByText("10,000 × 10,000 pixels, shown with 4,096 × 4,096").waitFor();
  const canvas = win.getByRole("img", { name: "big.png" });
  await canvas.waitFor();
  assert.deepEqual(await tones(canvas), [0, 255]);
  const other = await view("workspace/shown/huge.png");
  await other.getByText("441 million; 400 million can be shown").waitFor();
});

test("a file is shown as what it is, whatever its name says, and runs nothing", { skip }, async () => {
  const lines = Array.from({ length: 300_000 }, (_, i) => `row ${i},"a, ""${i}"""`);
  lay("shown", {
    "page.png": "<script>parent.ran = true</script><b>text</b>",
    "photo.txt": png(40, 30),
    "noise.md": Buffer.from([0, 1, 2, 3, 0xff]),
    "large.csv": `name,what\n${lines.join("\n")}\n`,
  });
  const page = await view("workspace/shown/page.png");
  await page.getByText("Its name says PNG, but it is text.").waitFor();
  await page.getByText("<script>parent.ran = true</script><b>text</b>").waitFor();
  const photo = await view("workspace/shown/photo.txt");
  await photo.getByText("Its name says TXT, but it is a picture.").waitFor();
  assert.equal(await photo.getByRole("img", { name: "photo.txt" }).evaluate((i) => i.naturalWidth), 40);
  await (await view("workspace/shown/noise.md")).getByText("This file cannot be shown here").waitFor();
  const least = await leastHeld(await frameOf(it.page), async () => {
    const table = await view("workspace/shown/large.csv");
    await table.getByText("300,000 rows", { exact: true }).waitFor();
    await table.locator(".viewer-table").press("End");
    await table.getByRole("cell", { name: 'a, "299999"' }).waitFor();
    assert.ok((await table.getByRole("row").count()) < 80, "only the rows that are seen exist");
  });
  assert.ok(least < HELD_MS, `a task took ${least} ms`);
  assert.equal(await (await frameOf(it.page)).evaluate(() => window.ran), undefined);
  await closeAll(it.page);
});

test("code saves over what was seen only; a conflict shows both sides", { skip }, async () => {
  const opened = await openWindow(it.page, "code", "workspace/dragonfly.txt");
  const text = opened.win.locator(".cm-content").first();
  await text.click();
  await it.page.keyboard.type("mine ");
  await it.page
    .context()
    .route("**/files/workspace/dragonfly.txt", (r) => (r.request().method() === "GET" ? r.abort() : r.fallback()), {
      times: 1,
    });
  await writeFile(it.page, "workspace/dragonfly.txt", "theirs");
  await it.page.keyboard.press("Control+s");
  await opened.win.getByText("changed by someone else").waitFor();
  await opened.win.locator(".code-sides").getByText("Theirs").waitFor();
  await opened.win.getByRole("button", { name: "Keep mine" }).click();
  await it.page.context().unroute("**/files/workspace/dragonfly.txt");
  await opened.win.getByRole("button", { name: "Save", exact: true }).click();
  await opened.win.getByText("Saved", { exact: true }).first().waitFor();
  const frame = await frameOf(it.page);
  const content = await frame.evaluate(async () =>
    (await fetch(`/api/computers/${location.host.split(".")[0]}/files/workspace/dragonfly.txt`)).text(),
  );
  assert.match(content, /mine/);
});

test("a folder of 50,000 files opens and is walked and sorted without holding up the page", { skip }, async () => {
  const many = lay("many-more", { "0.txt": "one of many" });
  for (let i = 1; i < 50_000; i++) linkSync(join(many, "0.txt"), join(many, `${i}.txt`));
  const least = await leastHeld(await frameOf(it.page), async () => {
    await closeAll(it.page);
    const opened = await openWindow(it.page, "files", "workspace/many-more/");
    const list = opened.win.getByRole("listbox");
    const last = opened.win.locator("[role=option][aria-selected=true]").filter({ hasText: /^49999\.txt/ });
    await opened.win.getByText(/^50,000 entries$/).waitFor();
    await list.press("End");
    await last.waitFor();
    await list.press("Control+a");
    await opened.win.getByText("50,000 chosen").waitFor();
    await opened.win.getByRole("button", { name: "Sort by Name" }).click();
    await opened.win
      .getByRole("option")
      .filter({ hasText: /^0\.txt/ })
      .waitFor();
    await list.press("Home");
    await last.waitFor();
  });
  assert.ok(least < HELD_MS, `a task took ${least} ms`);
});
