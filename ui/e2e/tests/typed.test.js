import assert from "node:assert/strict";
import { test } from "node:test";
import { appears, frameOf } from "../lib/desktop.js";
import { dropDrafts, keyboardIsInside } from "../lib/keyboard.js";
import { rig, skip } from "../lib/rig.js";
import { registered, reloadDesktop } from "../lib/states.js";
import {
  closeAll,
  desktopAPI,
  desktopOf,
  drag,
  known,
  openWindow,
  until,
  untilDrafts,
  writeFile,
} from "../lib/windows.js";

const it = rig({ desktop: true });
const FILE = "workspace/typed/calc.py";
const before = "def add(a, b):\n    return a + b\n";
const desk = (page = it.page) => desktopOf(page);
const code = (page = it.page) => desk(page).locator('[data-app="code"]');
const editor = (page = it.page) => code(page).locator(".cm-content");
const shows = (page, words) => editor(page).filter({ hasText: words }).waitFor();
const dialog = (page = it.page) => desk(page).getByRole("dialog", { name: "Save what you typed in calc.py?" });
const read = async () =>
  await (await frameOf(it.page)).evaluate(
    async (path) => (await fetch(`/api/computers/${location.host.split(".")[0]}/files/${path}`)).text(),
    FILE,
  );

const json = (method, body) => ({
  method,
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

/** Waits until the server keeps a text, or none. */
const kept = (holds) => untilDrafts(it.page, holds);
const isKept = (size) => kept(([one]) => one?.size === size);
const noneKept = () => kept((list) => list.length === 0);

/** Opens a file by the prompt, and types at its beginning without pressing anywhere. */
async function typeAtTop(words) {
  await desk().locator("#prompt").fill(`?open ${FILE}`);
  await desk().locator("#prompt").press("Enter");
  await editor().and(desk().locator(":focus")).waitFor();
  await it.page.keyboard.press("ControlOrMeta+Home");
  await it.page.keyboard.type(words);
}

test("what is typed in Code survives a reload, another browser sees it, and a crash does not lose it", {
  skip,
}, async () => {
  await writeFile(it.page, FILE, before);
  await typeAtTop("# first\n");
  await isKept(before.length + 8);
  await reloadDesktop(it.page);
  await shows(it.page, "# first");
  await code().getByText("Not saved").waitFor();
  it.second = await it.context.newPage();
  await it.second.goto(it.choir.address);
  await shows(it.second, "# first");
  // Its cursor stays, and both type into one text.
  await it.page.bringToFront();
  await editor().click();
  await it.page.keyboard.press("ControlOrMeta+End");
  await it.page.keyboard.type("# last");
  await shows(it.second, "# last");
  await it.second.bringToFront();
  await editor(it.second).click();
  await it.second.keyboard.press("ControlOrMeta+Home");
  await it.second.keyboard.type("# second\n");
  await shows(it.page, "# second");
  await isKept(before.length + 8 + 6 + 9);
  await it.choir.kill();
  await it.choir.again();
  // Both pages go on where they are, and where they are loaded anew.
  for (const page of [it.page, it.second]) {
    await page.bringToFront();
    await editor(page).click();
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.type("!");
    await isKept(before.length + 8 + 6 + 9 + 1);
    await page.keyboard.press("Backspace");
    await isKept(before.length + 8 + 6 + 9);
  }
  for (const page of [it.page, it.second]) await page.goto(it.choir.address);
  await shows(it.page, "# second");
  assert.equal(await read(), before, "nothing of it is in the file");
});

test("closing a window asks first, in each browser; one that is closed elsewhere keeps its text", {
  skip,
}, async () => {
  await shows(it.second, "# second");
  for (const page of [it.page, it.second]) {
    await page.bringToFront();
    await appears(page, code(page).getByText("Not saved"));
    await code(page)
      .getByRole("button", { name: /^Close/ })
      .last()
      .click();
    await appears(page, dialog(page));
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "detached" });
    await editor(page).and(desk(page).locator(":focus")).waitFor();
  }
  // An agent, or a browser of before, closes it all the same.
  const { windows } = await known(it.page);
  await desktopAPI(it.page, `/windows/${windows[0].id}/close`, { method: "POST" });
  await code(it.second).waitFor({ state: "detached" });
  await it.second.keyboard.type("astray");
  assert.equal(
    await desk(it.second).locator("#prompt").inputValue(),
    "",
    "what goes on being typed is not in the prompt",
  );
  await desk(it.second).getByText("calc.py was closed in another browser").waitFor();
  await desk(it.second).getByRole("button", { name: "Open", exact: true }).click();
  await shows(it.second, "# second");
});

test("the file that was changed underneath is told, and saved is saved in both browsers", { skip }, async () => {
  await it.page.bringToFront();
  await shows(it.page, "# second");
  await writeFile(it.page, FILE, `${before}\n# theirs\n`);
  await code().getByText("This file was changed by someone else").waitFor();
  await reloadDesktop(it.page);
  await code().getByText("This file was changed by someone else").waitFor();
  await code().getByRole("button", { name: "Keep mine" }).click();
  await code()
    .getByRole("button", { name: /^Close/ })
    .last()
    .click();
  await dialog().getByRole("button", { name: "Save" }).click();
  await code().waitFor({ state: "detached" });
  assert.equal(await read(), `# second\n# first\n${before}# last`);
  await noneKept();
  await desktopAPI(it.page, "/windows", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ app: "code", subject: FILE, bounds: { x: 60, y: 40, width: 700, height: 460 } }),
  });
  await typeAtTop("# gone\n");
  await shows(it.second, "# gone");
  await code()
    .getByRole("button", { name: /^Close/ })
    .last()
    .click();
  await dialog().getByRole("button", { name: "Discard" }).click();
  await noneKept();
  assert.equal(await read(), `# second\n# first\n${before}# last`);
  await it.second.close();
});

test("Python is indented by four", { skip }, async () => {
  await typeAtTop("def mul(a, b):\nreturn a * b");
  await code().getByText("Not saved").waitFor();
  await it.page.keyboard.press("ControlOrMeta+s");
  await code().getByText("Saved", { exact: true }).waitFor();
  assert.match(await read(), /^def mul\(a, b\):\n {4}return a \* b/);
  await closeAll(it.page);
});

const prompt = () => desk().locator("#prompt");
const focused = (selector) => desk().locator(`.window[data-focused="true"] ${selector}:focus`);

/** Types, and sees that nothing of it is in the prompt. */
async function typesNotInPrompt(words) {
  await it.page.keyboard.type(words);
  assert.equal(await prompt().inputValue(), "");
}

test("what is typed in the prompt is there after a reload, and gone once it is sent or cleared", { skip }, async () => {
  await prompt().fill("half a thought");
  await isKept(14);
  // The shell, which keeps it too, is loaded anew.
  await it.page.goto(it.choir.address);
  await (await frameOf(it.page)).waitForFunction(() => document.querySelector("#prompt")?.value === "half a thought");
  await prompt().press("Escape");
  await noneKept();
});

test("what the computer does not get is there after a reload, and lies in the tab until it has it", {
  skip,
}, async () => {
  const prompt = () => desk().locator("#prompt");
  const inTab = (count) => it.page.waitForFunction((wanted) => Object.keys(sessionStorage).length === wanted, count);
  const sends = /\/drafts\/prompt/;
  await noneKept();
  await inTab(0);
  await it.context.route(sends, (route) => (route.request().method() === "PUT" ? route.abort() : route.continue()));
  await prompt().fill("half a prompt");
  await inTab(1);
  // The browser asks before it leaves what was not sent.
  it.page.once("dialog", (asks) => asks.accept());
  await it.page.reload();
  await (await frameOf(it.page)).waitForFunction(() => document.querySelector("#prompt")?.value === "half a prompt");
  await it.context.unroute(sends);
  await isKept(13);
  await inTab(0);
  await prompt().press("Escape");
  await noneKept();
});

test("after each step in Files the keyboard is in the list, never in the prompt", { skip }, async () => {
  await writeFile(it.page, "typed/a.txt", "a");
  const { win } = await openWindow(it.page, "files", "typed/");
  const list = () => focused(".files-rows").waitFor();
  await win.locator("[role=option]").first().click();
  await it.page.keyboard.press("F2");
  await win.getByRole("textbox", { name: "Rename a.txt" }).waitFor();
  await it.page.keyboard.type("b");
  await it.page.keyboard.press("Enter");
  await win.locator("[role=option]").filter({ hasText: "b.txt" }).waitFor();
  await list();
  await typesNotInPrompt("quick");
  await it.page.keyboard.press("Control+Shift+n");
  await win.getByRole("textbox", { name: "New folder" }).fill("empty");
  await it.page.keyboard.press("Enter");
  await win.locator("[role=option]").filter({ hasText: "empty" }).waitFor();
  await list();
  await win.locator("[role=option]").filter({ hasText: "empty" }).click();
  await it.page.keyboard.press("Enter");
  await win.getByText("This folder is empty").waitFor();
  await list();
  await typesNotInPrompt("x");
  await it.page.keyboard.press("Backspace");
  await win.locator("[role=option]").filter({ hasText: "empty" }).dblclick();
  await win.getByText("This folder is empty").waitFor();
  await list();
  await typesNotInPrompt("y");
  await it.page.keyboard.press("Backspace");
  await win.locator("[role=option]").filter({ hasText: "b.txt" }).waitFor();
  // From the menu behind a button, too.
  await win.getByRole("button", { name: "Actions" }).click();
  await desk()
    .getByRole("menuitem", { name: /New folder/ })
    .click();
  await win.getByRole("textbox", { name: "New folder" }).fill("another");
  await it.page.keyboard.press("Enter");
  await win.locator("[role=option]").filter({ hasText: "another" }).waitFor();
  await list();
  await typesNotInPrompt("z");
  await closeAll(it.page);
});

test("?open finds what is meant, and opens nothing that is not there", { skip }, async () => {
  for (const [typed, path] of [
    ["Typed/calc.py", FILE],
    ["typed/nowhere.py", undefined],
  ]) {
    await prompt().fill(`?open ${typed}`);
    await prompt().press("Enter");
    if (path) await code().locator(".code-path").filter({ hasText: path }).waitFor();
    else await desk().getByText("There is no file “typed/nowhere.py”").first().waitFor();
  }
  // What was mistyped is there to be mended.
  assert.equal(await prompt().inputValue(), "?open typed/nowhere.py");
  await prompt().press("Escape");
  assert.equal((await known(it.page)).windows.length, 1);
  await closeAll(it.page);
});

test("a window takes no letter of the words that were begun while it opened", { skip }, async () => {
  const announced = (words) =>
    desk().locator("[role=status] p:last-child").filter({ hasText: words }).waitFor({ state: "attached" });
  await desk().getByRole("button", { name: "Open Preview" }).click();
  await announced("Preview opened");
  await closeAll(it.page);
  const frame = await frameOf(it.page);
  await frame.evaluate(() => {
    const { fetch } = window;
    const held = new Promise((done) => {
      window.answer = done;
    });
    window.fetch = async (...asked) => {
      const answered = await fetch(...asked);
      if (String(asked[0]).endsWith("/windows")) await held;
      return answered;
    };
  });
  await prompt().fill(`?open ${FILE}`);
  await prompt().press("Enter");
  // The event of the window comes before the answer.
  await code().locator(".code-path").filter({ hasText: FILE }).waitFor();
  await prompt().click();
  await it.page.keyboard.type("next ");
  await frame.evaluate(() => window.answer());
  // It is announced after the keyboard was given to it, or not.
  await announced("Code opened");
  await it.page.keyboard.type("words");
  assert.equal(await prompt().inputValue(), "next words");
  await prompt().fill("");
  await closeAll(it.page);
});

test("a terminal that another browser opens takes no letter from whoever types here", { skip }, async () => {
  await closeAll(it.page);
  await desk().getByRole("button", { name: "Open Preview" }).click();
  const address = desk().locator('[data-app="preview"] .preview-address');
  await address.and(desk().locator(":focus")).waitFor();
  await it.page.keyboard.type("80");
  const second = await it.context.newPage();
  await second.goto(it.choir.address);
  const there = desk(second);
  await there.getByRole("button", { name: "Open Terminal" }).click();
  await there.locator('[data-app="terminal"] .xterm-helper-textarea').and(there.locator(":focus")).waitFor();
  await desk().locator('[data-app="terminal"] .terminal-host[data-link=live]').waitFor();
  await it.page.keyboard.type("80");
  assert.equal(await address.inputValue(), "8080");
  await second.close();
  await closeAll(it.page);
});

test("a terminal keeps the keyboard when it is resized", { skip }, async () => {
  // What is drawn by the graphics card cannot be read; what is read out can.
  await desktopAPI(it.page, "/settings", json("POST", { key: "terminal.reader", value: "on" }));
  const { win } = await openWindow(it.page, "terminal");
  await win.locator(".terminal-host[data-link=live]").waitFor();
  await focused("textarea").waitFor();
  await drag(it.page, win.locator(".window-handle-se"), { dx: 40, dy: 30 });
  await focused("textarea").waitFor();
  await it.page.keyboard.type("echo it$((40+2))");
  await it.page.keyboard.press("Enter");
  await win.locator(".xterm-accessibility-tree").getByText("it42").first().waitFor();
  await closeAll(it.page);
});

const plan = "## Plan\n\n1. [x] **Make** it\n2. [ ] Check it\n\nDone so far.\n";

test("looking at a document writes nothing, and writing in it keeps its ticks", { skip }, async () => {
  const { body: doc } = await desktopAPI(it.page, "/documents", json("POST", { title: "Plan", content: plan }));
  const newest = async () => (await desktopAPI(it.page, `/documents/${doc.id}`)).body;
  const look = async () => {
    await prompt().fill(`?open document:${doc.id}`);
    await prompt().press("Enter");
    const win = desk().locator('[data-app="writer"]');
    await win.locator(".writer-text").getByText("Check it").waitFor();
    return { win, close: () => win.getByRole("button", { name: "Close Plan" }).click() };
  };
  // Closing saves what is not saved.
  const first = await look();
  await first.close();
  await until(it.page, ({ windows }) => windows.length === 0);
  assert.equal((await newest()).version, doc.version, "nothing was typed");
  const { win, close } = await look();
  await focused(".writer-text").waitFor();
  await it.page.keyboard.press("ControlOrMeta+End");
  await it.page.keyboard.type(" And more.");
  await win.getByText("First version").waitFor();
  assert.equal((await newest()).content.trim(), `${plan.trim()} And more.`);
  await close();
  await until(it.page, ({ windows }) => windows.length === 0);
  it.document = doc.id;
});

test("a comment is on the text that is selected, and its field has the keyboard", { skip }, async () => {
  const { win } = await openWindow(it.page, "writer", `document:${it.document}`);
  const text = win.locator(".writer-text");
  const side = win.locator(".writer-side");
  const comment = () => win.getByRole("toolbar").getByRole("button", { name: "Comment" }).click();
  await text.locator("h2").dblclick({ position: { x: 12, y: 14 } });
  await comment();
  await side.getByText("Comment on: Plan").waitFor();
  await focused("textarea").waitFor();
  await text.getByText("Check it").dblclick({ position: { x: 44, y: 14 } });
  await side.getByText("Comment on: Check").waitFor();
  await comment();
  await it.page.keyboard.type("why?");
  assert.equal(await side.locator("textarea").inputValue(), "why?");
  // What is written already stays where it was meant.
  await text.locator("h2").dblclick({ position: { x: 12, y: 14 } });
  await side.getByText("Comment on: Check").waitFor();
  await reloadDesktop(it.page);
  await win.locator(".writer-text").getByText("Plan").waitFor();
  await win.getByRole("button", { name: "Comments and proposals" }).click();
  await (await frameOf(it.page)).waitForFunction(
    () => document.querySelector(".writer-side textarea")?.value === "why?",
  );
  await text.getByText("Check").dblclick({ position: { x: 44, y: 14 } });
  await comment();
  await side.getByRole("button", { name: "Comment", exact: true }).click();
  await side.locator("blockquote").filter({ hasText: "Check" }).waitFor();
  await noneKept();
  await closeAll(it.page);
});

test("a new document is written in at once", { skip }, async () => {
  const { win } = await openWindow(it.page, "writer");
  await win.getByRole("button", { name: "New document" }).click();
  await focused(".writer-text").waitFor();
  await typesNotInPrompt("Begun.");
  await win.locator(".writer-text").getByText("Begun.").waitFor();
  await closeAll(it.page);
});

/** Keys that go somewhere else on purpose, each with the reason. */
const elsewhere = new Map([
  ["Escape Tab", "leaves the text of Code by Tab"],
  ["Alt Shift B", "goes to the tabs of the terminal"],
  ["Ctrl Alt B", "goes to the bar around the desktop"],
  ["Ctrl J", "goes to the prompt"],
  ["Ctrl Alt J", "goes to the prompt, from a terminal"],
  ["Ctrl Alt W", "closes the window: the test of windows looks where the keyboard goes"],
  ["Ctrl Alt D", "puts all windows away"],
  ["Ctrl Alt M", "puts the window away"],
  ["Ctrl Alt 1", "shows the desktop that is shown"],
  ["Ctrl Alt Shift 1", "moves the window to where it is"],
]);

/** Every key there is, by the app it is of, as the help of the running desktop lists them. */
async function allKeys() {
  await it.page.keyboard.press("Control+/");
  const help = desk().getByRole("dialog", { name: "Keyboard" });
  await help.waitFor();
  const tables = await help.locator(".keys-table").evaluateAll((all) =>
    all.map((table) => ({
      title: table.querySelector("h3").textContent,
      // One row stands for all desktops.
      keys: [...table.querySelectorAll("dt")].map((dt) =>
        [...dt.querySelectorAll("kbd")].map((kbd) => kbd.textContent.replace(/^1….*/, "1")).join(" "),
      ),
    })),
  );
  await it.page.keyboard.press("Escape");
  await help.waitFor({ state: "detached" });
  return new Map(tables.map(({ title, keys }) => [title.replace(/^Keys of /, "").toLowerCase(), keys]));
}

const names = { Ctrl: "Control", "←": "ArrowLeft", "→": "ArrowRight", "↑": "ArrowUp", "↓": "ArrowDown" };
const pressed = (keys) =>
  keys
    .split(" ")
    .map((key) => names[key] ?? key)
    .join("+");

const shownIn = {
  code: FILE,
  files: "typed/",
  viewer: "typed/c.svg",
  writer: () => `document:${it.document}`,
};

/**
 * Runs in the page: the first button of a window's toolbars that can be pressed and
 * was not tried, and where it is in the window. One may be disabled a moment later,
 * and is pressed all the same.
 */
function nextButton(win, tried) {
  const nameOf = (button) => button.getAttribute("aria-label") ?? button.innerText;
  const button = [...win.querySelectorAll(":is(.app-tools, [role=toolbar]) button:not(:disabled)")].find(
    (b) => b.checkVisibility({ visibilityProperty: true }) && !tried.includes(nameOf(b)),
  );
  if (!button) return undefined;
  button.scrollIntoView({ block: "nearest" });
  const [outer, inner] = [win.getBoundingClientRect(), button.getBoundingClientRect()];
  const [x, y] = [inner.x + inner.width / 2 - outer.x, inner.y + inner.height / 2 - outer.y];
  return { name: nameOf(button), x, y };
}

test("after every key and every button of every app what is typed stays in its window", { skip }, async () => {
  const picture = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>';
  await writeFile(it.page, "typed/c.svg", picture);
  const keys = await allKeys();
  const { everywhere } = Object.fromEntries(keys);
  assert.ok(everywhere.length > 10, "the desktop's own keys are listed");
  for (const app of await registered()) {
    const subject = typeof shownIn[app] === "function" ? shownIn[app]() : shownIn[app];
    const { win } = await openWindow(it.page, app, subject);
    await win.locator("[data-autofocus], [data-state=empty]").first().waitFor();
    await win.locator(".title-grip").click();
    await keyboardIsInside(it.page, `${app}: its title bar`);
    const own = keys.get((await win.getAttribute("aria-label")).toLowerCase()) ?? keys.get(app) ?? [];
    for (const key of [...own, ...(app === "code" ? everywhere : [])]) {
      if (elsewhere.has(key)) continue;
      await it.page.keyboard.press(pressed(key));
      await keyboardIsInside(it.page, `${app}: ${key}`);
    }
    const tried = [];
    for (let button = await win.evaluate(nextButton, tried); button; button = await win.evaluate(nextButton, tried)) {
      tried.push(button.name);
      const box = await win.boundingBox();
      await it.page.mouse.click(box.x + button.x, box.y + button.y);
      await keyboardIsInside(it.page, `${app}: the button ${button.name}`);
    }
    await closeAll(it.page);
    await dropDrafts(it.page);
  }
});
