import assert from "node:assert/strict";
import { test } from "node:test";
import { violationsIn } from "../lib/axe.js";
import { frameOf } from "../lib/desktop.js";
import { untilHolds } from "../lib/limits.js";
import { api, rig, skip } from "../lib/rig.js";
import { reloadDesktop } from "../lib/states.js";
import { tonesOf } from "../lib/tones.js";
import {
  closeAll,
  desktopAPI,
  desktopOf,
  hoverNote,
  known,
  openWindow,
  until,
  untilDrafts,
  writeFile,
} from "../lib/windows.js";

const it = rig({ desktop: true, model: true, config: "[limits]\nprompt_burst = 100\n" });
const desk = () => desktopOf(it.page);
const prompt = () => desk().locator("#prompt");
const card = () => desk().locator(".card[data-unfolded=true]");
const answer = (text) => card().locator(".card-answer").getByText(text);

async function send(text) {
  await prompt().fill(text);
  await prompt().press("Enter");
}

/** Closes every card, through the server, as another browser would. */
async function putAway() {
  const { body: runs } = await desktopAPI(it.page, "/runs");
  for (const { id, dismissed } of runs)
    if (!dismissed) await desktopAPI(it.page, `/runs/${id}/dismiss`, { method: "POST" });
  await desk().locator(".cards").waitFor({ state: "detached" });
}
const post = (path, body) =>
  desktopAPI(it.page, path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

test("the prompt has the focus at the start; Shift+Enter breaks the line, Escape clears, Enter sends", {
  skip,
}, async () => {
  // What is typed at once, with nothing pressed before, is in the prompt.
  await (await frameOf(it.page)).waitForFunction(() => document.activeElement?.id === "prompt");
  await it.page.keyboard.type("hello");
  await it.page.keyboard.press("Shift+Enter");
  await it.page.keyboard.type("again");
  assert.equal(await prompt().inputValue(), "hello\nagain");
  await it.page.keyboard.press("Escape");
  assert.equal(await prompt().inputValue(), "");
  await it.page.keyboard.type("hello you");
  await it.page.keyboard.press("Enter");
  await answer("Hello! What shall we do?").waitFor();
  assert.deepEqual((await known(it.page)).windows, [], "a greeting opens nothing");
  const toasts = "[data-sonner-toast]";
  const said = [await it.page.locator(toasts).count(), await desk().locator(toasts).count()];
  assert.deepEqual(said, [0, 0], "the answer is said once more");
});

test("up and down go through what was asked, and back to the draft", { skip }, async () => {
  await prompt().fill("a draft");
  await prompt().press("ArrowUp");
  assert.equal(await prompt().inputValue(), "hello you");
  await prompt().press("ArrowDown");
  assert.equal(await prompt().inputValue(), "a draft");
  await prompt().press("Escape");
});

test("the answer stays where it was asked, in every browser, until it is put away", { skip }, async () => {
  await reloadDesktop(it.page);
  await answer("Hello! What shall we do?").waitFor();
  const second = await it.context.newPage();
  await second.goto(it.choir.address);
  const there = desktopOf(second).locator(".card-answer");
  await there.waitFor();
  await it.page.bringToFront();
  await card().getByRole("button", { name: "Close this card" }).click();
  await card().waitFor({ state: "detached" });
  await there.waitFor({ state: "detached" });
  await second.close();
  await (await frameOf(it.page)).waitForFunction(() => document.activeElement?.id === "prompt");
  await reloadDesktop(it.page);
  await desk().getByText("What shall we do?", { exact: true }).waitFor();
  assert.equal(await card().count(), 0, "it came back");
});

test("a run at work shows its steps and how long it takes, greets nobody, and is stopped", { skip }, async () => {
  await desk().getByText("What shall we do?", { exact: true }).waitFor();
  await send("linger please");
  const steps = card().getByRole("list", { name: "Steps of the plan" });
  await steps.locator("li[data-state=working]").getByText("Do the work").waitFor();
  await card()
    .getByText(/^\d+ s$/)
    .waitFor();
  assert.equal(await desk().getByText("What shall we do?", { exact: true }).count(), 0, "it greets meanwhile");
  const size = it.page.viewportSize();
  const stop = await it.page
    .getByRole("region", { name: "Runs at work" })
    .getByRole("button", { name: "Stop" })
    .elementHandle();
  for (const width of [1440, 1280, 1100, 920, 600, 390]) {
    await it.page.setViewportSize({ width, height: 800 });
    // Nothing of the bar lies over it.
    await it.page.waitForFunction((button) => {
      const { left, right, top, bottom } = button.getBoundingClientRect();
      const hit = (x) => button.contains(document.elementFromPoint(x, (top + bottom) / 2));
      return hit(left + 3) && hit(right - 3);
    }, stop);
  }
  await it.page.setViewportSize(size);
  await card().getByRole("button", { name: "Stop", exact: true }).click();
  await desk()
    .locator(".card[data-state=cancelled]")
    .getByText(/Stopped, as you asked/)
    .waitFor();
  await putAway();
});

test("a question is answered by one of its choices", { skip }, async () => {
  await send("ask me something");
  const question = card().getByRole("region", { name: "A question" });
  await question.getByText("Which colour shall it be?").waitFor();
  await question.getByRole("button", { name: "Blue" }).click();
  await answer("It shall be as you say.").waitFor();
  await putAway();
});

test("an answer by which not all is done says so on its card and in the list of runs", { skip }, async () => {
  await send("halve the work");
  await answer("One of two is done.").waitFor();
  await card().locator(".card-status").getByText("Partly done", { exact: true }).waitFor();
  await card().locator(".card-fold").click();
  await desk().locator(".card[data-state=partly][data-unfolded=false] .card-undone").getByText("Partly done").waitFor();
  await it.page.getByRole("link", { name: "Runs", exact: true }).click();
  await it.page.getByRole("img", { name: "Partly done" }).first().waitFor();
  await it.page.goBack();
  await prompt().waitFor();
  await putAway();
});

test("a card hides no button of a window's title bar, however low that stands", { skip }, async () => {
  await send("hello");
  await card().waitFor();
  const area = await desk().locator(".desk-area").boundingBox();
  const middle = Math.round(area.width / 2);
  for (const y of [40, 300, Math.round(area.height) - 60]) {
    // Its buttons are in the column of the prompt.
    const { id, win } = await openWindow(it.page, "files", "", { x: middle - 320, y, width: 500, height: 400 });
    const close = win.getByRole("button", { name: /^Close / });
    await (await frameOf(it.page)).waitForFunction((window) => {
      const buttons = [...document.querySelectorAll(`[data-window="${window}"] .title-bar > .title-button`)];
      return (
        buttons.length === 3 &&
        buttons.every((button) => {
          const { left, right, top, bottom } = button.getBoundingClientRect();
          return button.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
        })
      );
    }, id);
    await close.click();
    await win.waitFor({ state: "detached" });
  }
  await putAway();
});

test("what a run changed is listed, opened, compared, and undone by one press in the shell", { skip }, async () => {
  await send("note it down");
  await answer("The note is written, not sent.").waitFor();
  assert.equal(await card().locator(".card-answer b").count(), 0, "an answer is taken as HTML");
  const files = card().getByRole("region", { name: "Files changed" });
  await files.getByRole("button", { name: "Diff" }).click();
  await files.locator(".diff-add").getByText("noted").waitFor();
  await files.getByRole("button", { name: "Open", exact: true }).click();
  await desk().locator(".window").getByText("noted").first().waitFor();
  await closeAll(it.page);
  const dialog = it.page.getByRole("dialog", { name: "Undo this" });
  const ends = dialog.getByText("1 terminal is open and will end, with what runs in it.");
  await card().getByRole("button", { name: "Undo this" }).click();
  await dialog.getByText("note.md").first().waitFor();
  assert.equal(await ends.count(), 0, "a terminal is said to end, and none is open");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  // The desktop is loaded anew.
  await prompt().waitFor();
  assert.equal((await post("/terminals", {})).status, 201);
  await card().getByRole("button", { name: "Undo this" }).click();
  await ends.waitFor();
  assert.equal(await it.page.locator("iframe").count(), 0, "the desktop is in the page that asks");
  await dialog.getByRole("button", { name: "Undo", exact: true }).click();
  await it.page.locator("[data-sonner-toast]").getByText("Undone: 1 file changed").waitFor();
  await prompt().waitFor();
  assert.equal((await desktopAPI(it.page, "/files?prefix=note.md")).body?.length ?? 0, 0, "the file is still there");
});

test("the dialog of an upgrade of the desktop says how many terminals end with it", { skip }, async () => {
  // One binary carries one desktop, so that there is a newer one is what the server is made to say.
  const files = [{ path: "choiros/src/a.ts", fate: "updated" }];
  const source = /\/desktop\/source$/;
  const upgrade = /\/desktop\/upgrade$/;
  await it.context.route(source, (route) => route.fulfill({ json: { mode: "shipped", outdated: true } }));
  await it.context.route(upgrade, (route) => route.fulfill({ json: { files, dry_run: true, terminals: 2 } }));
  await it.page.reload();
  await prompt().waitFor();
  const dialog = it.page.getByRole("dialog", { name: "Upgrade the desktop" });
  const see = it.page.getByRole("button", { name: "See what would change" });
  await hoverNote(see);
  await see.click();
  await dialog.getByText("2 terminals are open and will end, with what runs in them.").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await it.context.unroute(source);
  await it.context.unroute(upgrade);
  await it.page.reload();
  await prompt().waitFor();
});

test("a press on a note is not lost when the desktop answers meanwhile", {
  skip,
}, async () => {
  const source = /\/desktop\/source$/;
  await it.context.route(source, (route) => route.fulfill({ json: { mode: "shipped", outdated: true } }));
  let goOn;
  const pressed = new Promise((done) => {
    goOn = done;
  });
  const script = (url) => url.hostname !== "choir.localhost" && /^\/assets\/index-.*\.js$/.test(url.pathname);
  await it.context.route(script, async (route) => {
    await pressed;
    await route.continue();
  });
  await it.page.reload({ waitUntil: "commit" });
  const silent = it.page.getByRole("alert").filter({ hasText: "The desktop does not answer." });
  await silent.waitFor();
  await hoverNote(it.page.getByRole("button", { name: "See what would change" }));
  await it.page.mouse.down();
  goOn();
  await silent.waitFor({ state: "detached" });
  await it.page.mouse.up();
  const dialog = it.page.getByRole("dialog", { name: "Upgrade the desktop" });
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await it.context.unroute(source);
  await it.context.unroute(script);
  await it.page.reload();
  await prompt().waitFor();
});

test("a card says that its run was undone, in every browser and after a reload, until the undo is undone", {
  skip,
}, async () => {
  const { events } = (await desktopAPI(it.page, "/events?limit=1000")).body;
  const { seq } = events.findLast((e) => e.type === "timeline.undone");
  const undo = (where) => where.getByRole("button", { name: "Undo this" });
  const second = await it.context.newPage();
  await second.goto(it.choir.address);
  const there = desktopOf(second).locator(".card");
  const says = async () => {
    for (const where of [card(), there]) {
      await where.getByText(/^Undone, \d\d:\d\d/).waitFor();
      assert.equal(await undo(where).count(), 0, "a second undo is offered");
    }
  };
  const saysNothing = async () => {
    for (const where of [card(), there]) {
      await undo(where).waitFor();
      assert.equal(await where.getByText(/^Undone/).count(), 0, "it is still undone");
    }
  };
  const rewind = (to_seq) =>
    api(it.page, "/rewind", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ to_seq }),
    });
  await says();
  await reloadDesktop(it.page);
  await says();
  await rewind(seq - 1);
  await saysNothing();
  await reloadDesktop(it.page);
  await saysNothing();
  await rewind(seq);
  await says();
  await second.close();
  await it.page.bringToFront();
  await card().getByRole("button", { name: "Document", exact: true }).click();
  const page = desk().locator('[data-app="writer"]');
  await page.getByText("Done.", { exact: true }).waitFor();
  await page
    .getByRole("note")
    .getByText(/^Undone, \d\d:\d\d.*: what the run changed is gone/)
    .waitFor();
  await closeAll(it.page);
  await card().getByRole("button", { name: "Show it on the timeline" }).click();
  await it.page.waitForFunction((seq) => location.href.includes(String(seq)), seq);
  await it.page.goBack();
  await prompt().waitFor();
});

test("a reply goes on from the answer, and its Director is told of it", { skip }, async () => {
  const reply = card().getByRole("textbox", { name: "Reply" });
  await reply.fill("hello again");
  await reply.press("Enter");
  await answer("Hello! What shall we do?").waitFor();
  const { events } = (await desktopAPI(it.page, "/events?limit=1000")).body;
  const [before, after] = events.filter((e) => e.type === "prompt.submitted").slice(-2);
  assert.equal(after.payload.after, before.run);
  const told = it.model.heard.at(-1);
  assert.match(told, /^The user asks:\n\nhello again\n/);
  assert.ok(told.includes("note it down") && told.includes("The note is **written**"), told);
  await putAway();
});

test("what was asked elsewhere is a line, and says how it ended", { skip }, async () => {
  const body = JSON.stringify({ text: "hello from the shell" });
  await api(it.page, "/prompts", { method: "POST", headers: { "Content-Type": "application/json" }, body });
  const line = desk().locator(".card[data-state=done][data-unfolded=false]");
  await line.getByText("Hello! What shall we do?").waitFor();
  await line.getByRole("button", { name: /hello from the shell/ }).click();
  await answer("Hello! What shall we do?").waitFor();
  await putAway();
});

test("? commands the desktop", { skip }, async () => {
  await prompt().fill("?sett");
  await desk().locator(".commands li").first().waitFor();
  await prompt().press("Enter");
  await desk().locator('[data-app="settings"]').waitFor();
  assert.equal(await prompt().inputValue(), "");
  await closeAll(it.page);
});

test("the launcher finds apps, files, actions and past runs by keyboard alone", { skip }, async () => {
  await writeFile(it.page, "workspace/kingfisher.csv", "a,b\n1,2\n");
  const launcher = desk().getByRole("dialog", { name: "Launcher" });
  const item = (text) => launcher.locator("[role=option]").filter({ hasText: text }).first();
  await it.page.keyboard.press("Control+k");
  await launcher.waitFor();
  await it.page.keyboard.type("hello you");
  await item("hello you").waitFor();
  assert.equal(await launcher.locator("[role=combobox]").inputValue(), "hello you");
  await launcher.locator("[role=combobox]").fill("Make a checkpoint");
  await item("Make a checkpoint").waitFor();
  await launcher.locator("[role=combobox]").fill("kingfisher");
  await item("workspace/kingfisher.csv").waitFor();
  await it.page.keyboard.press("Enter");
  await desk().locator('[data-app="viewer"]').getByRole("columnheader", { name: "a" }).waitFor();
  await it.page.keyboard.press("Control+k");
  await it.page.keyboard.press("Escape");
  await launcher.waitFor({ state: "detached" });
  await closeAll(it.page);
});

test("a pasted address is offered for what it is", { skip }, async () => {
  const frame = await frameOf(it.page);
  await frame.evaluate(() => {
    const data = new DataTransfer();
    data.setData("text/plain", "https://example.org/page");
    document
      .querySelector("#prompt")
      .dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await desk().getByRole("button", { name: "Summarise this page" }).click();
  assert.match(await prompt().inputValue(), /^Summarise https:\/\/example\.org\/page /);
  await prompt().press("Escape");
});

test("a theme is in force at once, everywhere, and after a reload; an unsafe value is refused", { skip }, async () => {
  const second = await it.context.newPage();
  await second.goto(it.choir.address);
  await desktopOf(second).locator("#prompt").waitFor();
  await it.page.bringToFront();
  await openWindow(it.page, "settings");
  await desk()
    .getByRole("button", { name: /kintsugi/i })
    .click();
  const polling = { polling: 50 };
  const gold = () => getComputedStyle(document.documentElement).getPropertyValue("--accent").trim() === "#d9b25c";
  for (const page of [it.page, second]) await (await frameOf(page)).waitForFunction(gold, undefined, polling);
  await until(it.page, ({ theme }) => theme?.name === "kintsugi");
  const frame = await frameOf(it.page);
  await frame.evaluate(() => location.reload());
  await frame.waitForFunction(gold, undefined, polling);
  for (const value of ["url(http://evil.example/)", "red; background: blue", "expression(1)"]) {
    const { status } = await post("/theme", { name: "mine", tokens: [{ name: "accent", value }] });
    assert.equal(status, 422, value);
  }
  await post("/theme", { name: "system" });
  await second.close();
});

test("Dark and Light are obeyed whatever the system prefers, by the shell too and at once", { skip }, async () => {
  const { page } = it;
  await closeAll(page);
  const { win } = await openWindow(page, "settings", "", { x: 300, y: 120, width: 700, height: 460 });
  const parts = [
    [page.locator("header").first(), 400, 4],
    [win, 300, 440],
    [desk().locator(".bar"), 410, 60],
  ];
  for (const system of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: system });
    for (const [theme, holds] of [
      ["Dark", (tone) => tone < 60],
      ["Light", (tone) => tone > 220],
      ["Like the system", (tone) => (system === "dark" ? tone < 60 : tone > 220)],
    ]) {
      await win.getByRole("button", { name: theme, exact: true }).click();
      const scheme = { Dark: "dark", Light: "light" }[theme] ?? "light dark";
      for (const drawn of [page, await frameOf(page)])
        await drawn.waitForFunction((s) => document.documentElement.style.colorScheme === s, scheme);
      // The desktop is a process of its own, whose picture comes after its style.
      let tones;
      const look = async () => {
        tones = await tonesOf(page, parts);
        return tones.every(holds);
      };
      await untilHolds(page, look, () => `${theme} with a ${system} system is drawn, and not ${tones}`);
    }
  }
  // A page that is opened anew, without the desktop in it, knows the scheme as well.
  await win.getByRole("button", { name: "Dark", exact: true }).click();
  await page.emulateMedia({ colorScheme: "light" });
  await until(page, ({ theme }) => theme?.name === "dark");
  const other = await it.context.newPage();
  await other.goto(`${it.choir.address}/runs`);
  await other.waitForFunction(() => document.documentElement.style.colorScheme === "dark");
  await other.close();
  await post("/theme", { name: "system" });
  await closeAll(page);
});

/** The heading and the main part of the page are those of the desktop in the frame. */
const INSIDE = ["landmark-one-main", "page-has-heading-one"];

test("what was sent is not in the prompt again when the page comes back", { skip }, async () => {
  const { page } = it;
  const kept = (wanted) => untilDrafts(page, (drafts) => drafts.some((d) => d.app === "prompt") === wanted);
  await desk().locator("#prompt").fill("hello once");
  await kept(true);
  await desk().locator("#prompt").press("Enter");
  await desk().locator(".card").filter({ hasText: "hello once" }).first().waitFor();
  await kept(false);
  await page.getByRole("navigation").getByRole("link", { name: "Runs" }).click();
  await page.locator("iframe.desktop-frame").waitFor({ state: "detached" });
  await page.getByRole("navigation").getByRole("link", { name: "Desktop" }).click();
  await desk().locator(".card").filter({ hasText: "hello once" }).first().waitFor();
  assert.equal(await desk().locator("#prompt").inputValue(), "");
});

test("the shell follows a theme's contrast, in values of its own", { skip }, async () => {
  const wear = (name, tokens) => post("/theme", tokens ? { name, tokens } : { name });
  const looks = (...wanted) =>
    it.page.waitForFunction(([background, color, contrast]) => {
      const look = getComputedStyle(document.body);
      const is = [look.backgroundColor, look.color, document.documentElement.dataset.contrast];
      return is[0] === background && is[1] === color && is[2] === contrast;
    }, wanted);
  await wear("high-contrast");
  await looks("rgb(0, 0, 0)", "rgb(255, 255, 255)", "more");
  assert.deepEqual(await violationsIn(it.page.mainFrame(), { off: INSIDE }), []);
  // A theme of the workspace says no more to the shell than light or dark, and how much contrast.
  await wear("mine", [
    { name: "color-scheme", value: "light" },
    { name: "contrast", value: "more" },
    { name: "surface", value: "red" },
    { name: "paper", value: "red" },
    { name: "ink", value: "red" },
  ]);
  await looks("rgb(255, 255, 255)", "rgb(0, 0, 0)", "more");
  await wear("light");
  await looks("rgb(250, 249, 246)", "rgb(34, 33, 30)", "standard");
  await wear("system");
});

test("a theme that lies in the workspace is offered, and follows its file", { skip }, async () => {
  const theme = (desk) =>
    JSON.stringify({ name: "pond", title: { en: "Pond", de: "Teich" }, scheme: "dark", tokens: { desk } });
  await writeFile(it.page, "choiros/themes/pond.json", theme("#0b1e33"));
  await openWindow(it.page, "settings");
  await desk().getByRole("button", { name: /Pond/ }).click();
  const frame = await frameOf(it.page);
  const is = (value) => getComputedStyle(document.documentElement).getPropertyValue("--desk").trim() === value;
  await frame.waitForFunction(is, "#0b1e33");
  await writeFile(it.page, "choiros/themes/pond.json", theme("#00008b"));
  await frame.waitForFunction(is, "#00008b");
  await post("/theme", { name: "system" });
  await closeAll(it.page);
});

test("the language and the direction of writing are settings", { skip }, async () => {
  await post("/settings", { key: "language", value: "de" });
  await post("/settings", { key: "dir", value: "rtl" });
  await desk().locator('[placeholder^="Was soll geschehen"]').waitFor();
  const frame = await frameOf(it.page);
  await frame.waitForFunction(() => document.documentElement.dir === "rtl" && document.documentElement.lang === "de");
  const { win } = await openWindow(it.page, "files");
  await win.getByText("Dieser Ordner ist leer").or(win.locator("[role=option]").first()).first().waitFor();
  const order = await frame.evaluate(() => {
    const left = (s) => document.querySelector(s).getBoundingClientRect().left;
    return { dock: left(".dock-button"), tray: left(".tray"), wide: document.documentElement.scrollWidth > innerWidth };
  });
  assert.ok(order.dock > order.tray, "apps are at the right, the clock at the left");
  assert.equal(order.wide, false);
  await post("/settings", { key: "language", value: "" });
  await post("/settings", { key: "dir", value: "" });
  await closeAll(it.page);
});
