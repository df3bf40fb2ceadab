import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { dropDrafts, keyboardIsInside } from "../lib/keyboard.js";
import { PATIENCE_MS, untilHolds } from "../lib/limits.js";
import { rig, skip } from "../lib/rig.js";
import { registered } from "../lib/states.js";
import { closeAll, desktopAPI, desktopOf, openWindow, writeFile } from "../lib/windows.js";

const it = rig({ desktop: true, config: "[limits]\nprompt_burst = 1000\n" });
const desk = () => desktopOf(it.page);
const menus = () => desk().getByRole("menu");
const json = (method, body) => ({
  method,
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

/** Entries that lead elsewhere on purpose, by their names, each with the reason. */
const elsewhere = new Map([
  ["Minimise", "puts the window away: the test of windows looks where the keyboard goes"],
  ["Close", "closes the window: the same test"],
  ["Remove this document", "closes the window with it"],
  ["Move to desktop 2", "moves the window out of sight: the same test"],
  ["Move to desktop 3", "as above"],
  ["Move to desktop 4", "as above"],
  ["Save as PDF or print, in the browser's dialog…", "opens a dialog of the browser"],
  ["Upload files", "opens the browser's dialog for files"],
  ["Upload a folder", "as above"],
  ["Undo", "leads to a page of the shell, which takes the desktop off the page"],
]);

const NOTES = "menus/notes.txt";

/** What an app is opened with; some make it anew for each window, because an entry may have removed it. */
const subjects = {
  code: () => NOTES,
  files: () => "menus/",
  viewer: () => NOTES,
  writer: async () => {
    const { body } = await desktopAPI(it.page, "/documents", json("POST", { title: "Menus", content: "Some words." }));
    return `document:${body.id}`;
  },
  trace: async () => {
    it.run ??= (await desktopAPI(it.page, "/prompts", json("POST", { text: "hello" }))).body.run;
    return `run:${it.run}`;
  },
};

const entryOfFiles = (win) => win.locator(".files-entry").first();
const rightClick = (of) => async (win) => await of(win).click({ button: "right" });

/** Menus without a button of their own, by how they are opened. */
const contexts = [
  { name: "a window's menu", app: "code", open: rightClick((win) => win.locator(".title-grip")) },
  { name: "files, on a file", app: "files", open: rightClick(entryOfFiles) },
  {
    name: "files, on nothing",
    app: "files",
    open: async (win) => {
      await entryOfFiles(win).waitFor();
      const list = win.getByRole("listbox");
      const { width, height } = await list.boundingBox();
      await list.click({ button: "right", position: { x: width / 2, y: height - 12 } });
    },
  },
  {
    name: "files, in the trash",
    app: "files",
    subject: () => "trash:",
    // A page that still holds an earlier list of the trash draws that one first.
    open: rightClick((win) => win.locator(".files-entry").filter({ hasText: trashed })),
  },
];

/** Opens a window of an app as a person finds it, with the keyboard in its content. */
async function openFresh(app, subjectOf = subjects[app] ?? (() => "")) {
  if (app === "files") await fillTrash();
  await writeFile(it.page, NOTES, "Some words.\n");
  const { win } = await openWindow(it.page, app, await subjectOf());
  await win.locator("[data-autofocus], [data-state=empty]").first().waitFor();
  return win;
}

/** The name of the file that lies in the trash, another one for each window. */
let trashed = "";
let timesFilled = 0;

/** One file is in the trash, whatever was removed for good or put back before. */
async function fillTrash() {
  await desktopAPI(it.page, "/trash", { method: "DELETE" });
  timesFilled++;
  trashed = `gone${timesFilled}.txt`;
  const { body: file } = await writeFile(it.page, `menus/${trashed}`, "It was here.\n");
  await desktopAPI(it.page, "/trash", json("POST", { items: [{ path: file.path, if_match: file.digest }] }));
}

/** Closes windows and cards, and drops what was typed. */
async function tidy() {
  await closeAll(it.page);
  await dropDrafts(it.page);
  // Without a model every run fails at once; its card would lie over the next window.
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; ) {
    const { body: runs } = await desktopAPI(it.page, "/runs");
    const left = runs.filter((run) => !run.dismissed);
    if (left.length === 0) break;
    for (const { id } of left) await desktopAPI(it.page, `/runs/${id}/dismiss`, { method: "POST" });
  }
  await desk().locator(".cards").waitFor({ state: "detached" });
}

/** The buttons of a window that open menus, but for that of the window's own menu, as ways to open a menu. */
async function buttonsOf(app) {
  const win = await openFresh(app);
  const buttons = win.locator('[aria-haspopup="menu"]:not([aria-hidden], .title-menu-button)');
  const names = await buttons.evaluateAll((all) => all.map((b) => b.getAttribute("aria-label") ?? b.innerText.trim()));
  await tidy();
  return names.map((name) => ({
    name: `${app}, ${name}`,
    app,
    open: (win) => win.getByRole("button", { name, exact: true }).click(),
  }));
}

/** An entry of the menu that was opened last, by all of its text. */
const entry = ({ text }) =>
  menus()
    .last()
    .getByRole("menuitem")
    .filter({ hasText: new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`) });

/** Shows the entries below one. */
async function unfold(above) {
  const open = await menus().count();
  await entry(above).press("ArrowRight");
  await menus().nth(open).getByRole("menuitem").first().waitFor();
}

/** Every entry of the menu that is open: by the path to it, and whether it can be chosen now. */
async function entriesOf(path = []) {
  await menus().last().getByRole("menuitem").first().waitFor();
  const here = await menus()
    .last()
    .getByRole("menuitem")
    .evaluateAll((items) =>
      items.map((item) => ({
        text: item.textContent,
        // Without its keys.
        label: (item.querySelector("span") ?? item).textContent,
        unfolds: item.getAttribute("aria-haspopup") === "menu",
        enabled: !item.hasAttribute("data-disabled"),
      })),
    );
  const all = [];
  for (const { text, label, unfolds, enabled } of here) {
    const to = [...path, { text, label }];
    if (!unfolds || !enabled) {
      all.push({ path: to, enabled });
      continue;
    }
    const open = await menus().count();
    await unfold({ text });
    all.push(...(await entriesOf(to)));
    await it.page.keyboard.press("ArrowLeft");
    await menus().nth(open).waitFor({ state: "detached" });
  }
  return all;
}

/** Counts the requests of the page that change something and are not answered. */
function watchRequests() {
  const open = new Set();
  const isChange = (request) => request.method() !== "GET";
  it.page.on("request", (request) => isChange(request) && open.add(request));
  for (const ended of ["requestfinished", "requestfailed"]) it.page.on(ended, (request) => open.delete(request));
  return async () => {
    await untilHolds(it.page, () => open.size === 0, "an answer to each request");
    // What follows from the answers is drawn.
    for (let n = 0; n < 2; n++) await it.page.evaluate(() => new Promise(requestAnimationFrame));
  };
}

/** The apps whose source opens menus that have no button. */
async function appsWithContexts() {
  const apps = new URL("../../desktop/src/apps/", import.meta.url);
  const found = [];
  for (const app of await registered())
    for (const file of await readdir(new URL(`${app}/`, apps), { recursive: true })) {
      if (!file.endsWith(".tsx")) continue;
      const source = await readFile(new URL(`${app}/${file}`, apps), "utf8");
      if (/<MenuArea|onContextMenu=/.test(source)) found.push(app);
    }
  return [...new Set(found)];
}

test("every app that opens a menu by a right click is looked at here", { skip }, async () => {
  assert.deepEqual(await appsWithContexts(), ["files"]);
});

/** Labels of entries that were met, and of those that could be chosen. */
const [seen, chosen] = [new Set(), new Set()];

/** Chooses each entry of a menu in a window of its own, and types. */
async function tryEach({ name, app, subject, open }) {
  await open(await openFresh(app, subject));
  const entries = await entriesOf();
  await it.page.keyboard.press("Escape");
  await menus().first().waitFor({ state: "detached" });
  await tidy();
  for (const { path, enabled } of entries) {
    const { label } = path.at(-1);
    seen.add(label);
    if (!enabled) continue;
    for (const above of path) chosen.add(above.label);
    if (elsewhere.has(label)) continue;
    await open(await openFresh(app, subject));
    for (const above of path.slice(0, -1)) await unfold(above);
    await entry(path.at(-1)).click();
    await menus().first().waitFor({ state: "detached" });
    const what = `${name}: ${path.map((above) => above.label).join(" › ")}`;
    await keyboardIsInside(it.page, what);
    await it.answered();
    await keyboardIsInside(it.page, `${what}, answered`);
    await tidy();
  }
}

const said = "what is typed after each entry stays in its window";

for (const way of contexts)
  test(`${way.name}: ${said}`, { skip }, async () => {
    it.answered ??= watchRequests();
    await tryEach(way);
  });

for (const app of skip ? [] : await registered())
  test(`the menus of ${app}: ${said}`, { skip }, async () => {
    for (const way of await buttonsOf(app)) await tryEach(way);
  });

test("each entry could be chosen somewhere, and each that leads elsewhere is there", { skip }, () => {
  assert.ok(seen.size > 30, `${seen.size} entries were found`);
  assert.deepEqual(
    [...seen].filter((label) => !chosen.has(label)),
    [],
  );
  assert.deepEqual(
    [...elsewhere.keys()].filter((label) => !chosen.has(label)),
    [],
  );
});
