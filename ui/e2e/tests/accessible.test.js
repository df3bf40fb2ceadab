import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { violationsIn } from "../lib/axe.js";
import { enterDesktop, frameOf } from "../lib/desktop.js";
import { untilHolds } from "../lib/limits.js";
import { api, rig, skip } from "../lib/rig.js";
import { unreachable } from "../lib/seen.js";
import { furnish, playDemo } from "../lib/states.js";
import { closeAll, desktopOf, openWindow } from "../lib/windows.js";

const focusOf = (frame) => frame.evaluate(() => document.activeElement?.id || document.activeElement?.tagName);

describe("the shell", () => {
  const it = rig({ desktop: true, model: true });
  const open = async (path, shown = "h1") => {
    await it.page.goto(it.choir.address + path);
    await it.page.locator(shown).first().waitFor();
  };
  const pages = (run) => [
    ["/runs", "h1", "Runs"],
    [`/runs/${run}`, ".markdown h1, .markdown h2, .markdown p", "tally"],
    [`/runs/${run}/undo`, "dialog h2", "tally"],
    ["/time", ".band-tick", "Timeline"],
    ["/recover", ".recover-list li", "Recover"],
    ["/models", ".settings h2", "Models & keys"],
    ["/models/keys", ".settings h1", "Models & keys"],
    ["/models/limits", ".settings h1", "Models & keys"],
  ];

  test("has no finding of any weight, on any page, light or dark, and each page says where one is", {
    skip,
  }, async () => {
    const { page } = it;
    const run = await playDemo(page);
    const nav = page.getByRole("navigation", { name: "Pages of the top bar" });
    for (const [path, shown] of pages(run)) {
      await open(path, shown);
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await violationsIn(page), [], `${path} in ${colorScheme}`);
      }
      assert.equal(await page.locator("h1:not([aria-level])").count(), 1, `${path} has one heading of level 1`);
      assert.equal(await page.getByRole("main").count(), 1, path);
      assert.equal(await page.getByRole("banner").count(), 1, path);
      const here = path.startsWith("/runs/") ? "tally" : await nav.locator("[aria-current=page]").getAttribute("title");
      assert.ok((await page.title()).startsWith(here), `${path} is called ${await page.title()}`);
    }
    await open("/runs");
    for (const tab of await page.getByRole("tab").all()) {
      await tab.click();
      assert.deepEqual(await violationsIn(page), [], `/runs, ${await tab.innerText()}`);
    }
    for (const button of await page.locator(".header .popover-button").all()) {
      await button.click();
      assert.deepEqual(await violationsIn(page), [], `/runs, ${await button.innerText()}`);
      await page.keyboard.press("Escape");
    }
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").waitFor();
    assert.deepEqual(await violationsIn(page), [], "the launcher of the shell");
  });

  test("at 200 % zoom and at 320 wide the timeline is whole, by keyboard too, and scrolls one way", {
    skip,
  }, async () => {
    const { page, context } = it;
    const screen = await context.newCDPSession(page);
    await open("/time", ".band-tick");
    await page.getByRole("slider").press("ArrowLeft");
    await page.locator(".time-past").waitFor();
    for (const [width, height] of [
      [720, 450],
      [320, 640],
      [320, 256],
    ]) {
      const what = `${width}x${height}`;
      await screen.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 2, mobile: false });
      for (const tab of await page.getByRole("tablist", { name: "Parts of the computer" }).getByRole("tab").all()) {
        await tab.click();
        await page.locator(".time-body[aria-busy=false]").waitFor();
        assert.deepEqual(await page.evaluate(unreachable), [], `${what}, ${await tab.innerText()}`);
        assert.deepEqual(await page.evaluate(sideways), [], `${what}, ${await tab.innerText()}`);
      }
      assert.deepEqual(await page.evaluate(roomBelowSticky), [], what);
      assert.deepEqual(await missedByTab(page), [], `${what}, not reached by Tab`);
      assert.deepEqual(await violationsIn(page), [], what);
    }
    await screen.send("Emulation.clearDeviceMetricsOverride");
    await screen.detach();
  });

  test("and the desktop in it are one page: one h1, its landmarks, and a way for the keyboard in and out", {
    skip,
  }, async () => {
    const { page } = it;
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(it.choir.address);
    const frame = await enterDesktop(page);
    const desk = desktopOf(page);
    await furnish(page);
    const { win } = await openWindow(page, "viewer", "workspace/states/notes.md");
    await win.getByRole("heading", { name: "Birds of the pond" }).waitFor();
    const tree = [...(await treeOf(page, page)), ...(await treeOf(page, frame))];
    const firsts = tree.filter(
      ({ role, properties }) =>
        role?.value === "heading" && properties.some(({ name, value }) => name === "level" && value.value === 1),
    );
    assert.deepEqual(
      firsts.map(({ name }) => name.value),
      ["Desktop"],
    );
    const both = async (role) => (await page.getByRole(role).count()) + (await desk.getByRole(role).count());
    for (const role of ["banner", "main"]) assert.equal(await both(role), 1, role);
    assert.ok((await both("navigation")) > 0);
    assert.match(await page.title(), /^Desktop · /);
    // The frame's windows have headings and landmarks of their own.
    assert.deepEqual(await violationsIn(page, { within: [frame], off: ["heading-order", "landmark-unique"] }), []);

    const prompt = desk.locator("#prompt");
    await closeAll(page);
    await page.locator(".header-home").focus();
    await page.keyboard.press("Shift+Tab");
    assert.equal(await focusOf(page), "skip");
    assert.ok((await page.locator("#skip").boundingBox()).width > 50, "the link is seen when the keyboard is there");
    await page.keyboard.press("Enter");
    await prompt.and(desk.locator(":focus")).waitFor();
    await page.keyboard.type("in the desktop");
    assert.equal(await prompt.inputValue(), "in the desktop");
    await page.keyboard.press("Control+Alt+b");
    await page.locator("#skip:focus").waitFor();
    await page.keyboard.press("Enter");
    await prompt.and(desk.locator(":focus")).waitFor();
    await desk.locator("#skip").focus();
    await page.keyboard.press("Enter");
    await page.locator("#skip:focus").waitFor();
    await page.keyboard.press("Enter");
    await prompt.and(desk.locator(":focus")).waitFor();
    await prompt.fill("");
  });

  test("a run's begin, question and end are said once, on the desktop and beside it", { skip }, async () => {
    const { page } = it;
    for (const beside of [false, true]) {
      await page.goto(it.choir.address + (beside ? "/recover" : "/"));
      if (!beside) await enterDesktop(page);
      await page.locator(".connection-live").waitFor();
      const listeners = [page, ...(beside ? [] : [await frameOf(page)])];
      for (const each of listeners) await each.evaluate(hear);
      const { body } = await api(page, "/prompts", {
        method: "POST",
        headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() },
        body: JSON.stringify({ text: "ask for the colour" }),
      });
      const said = async () => (await Promise.all(listeners.map((l) => l.evaluate(() => globalThis.said)))).flat();
      const saidOf = async (text) => (await said()).filter((s) => s.includes(text)).length;
      const until = (text) => untilHolds(page, async () => (await saidOf(text)) > 0, `${text} is said`);
      await until("Which colour shall it be?");
      const { question } = (await api(page, `/runs/${body.run}`)).body;
      await page.evaluate(answer, [body.run, question.id]);
      const end = beside ? "The run ended" : "It shall be as you say.";
      await until(end);
      for (const text of ["ask for the colour", "Which colour shall it be?", end])
        assert.equal(await saidOf(text), 1, `${text}: ${JSON.stringify(await said())}`);
    }
  });
});

/** The accessibility tree of a page, or of a frame of another origin in it. */
async function treeOf(page, of) {
  const session = await page.context().newCDPSession(of);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  await session.detach();
  return nodes.filter((n) => !n.ignored);
}

/** Runs in the page: answers the question of a run. */
async function answer([run, question]) {
  const [computer] = await (await fetch("/api/computers")).json();
  await fetch(`/api/computers/${computer.id}/runs/${run}/answers`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ question, text: "Blue" }),
  });
}

/** Runs in the page: collects what its live regions say from now on. */
function hear() {
  globalThis.said = [];
  const live = "[role=status], [role=alert], [role=log], [aria-live=polite], [aria-live=assertive]";
  new MutationObserver((changes) => {
    for (const { target, addedNodes, type } of changes) {
      const region = (target.nodeType === 1 ? target : target.parentElement)?.closest(live);
      if (region && type === "characterData") globalThis.said.push(target.data);
      for (const node of addedNodes) {
        const own = node.nodeType === 1 && (node.matches(live) || node.querySelector("[role=alert]"));
        if ((region || own) && node.textContent) globalThis.said.push(node.textContent);
      }
    }
  }).observe(document, { subtree: true, childList: true, characterData: true });
}

/** Runs in the page: what has to be scrolled sideways to be read. */
function sideways() {
  const wide = (e) => e.scrollWidth > e.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(e).overflowX);
  const seen = (e) => e.clientWidth > 1 && e.checkVisibility({ visibilityProperty: true });
  const found = [...document.querySelectorAll("*")].filter((e) => seen(e) && wide(e));
  const page = document.documentElement.scrollWidth > innerWidth ? ["the page"] : [];
  return [...page, ...found.map((e) => `${e.tagName}.${e.className} ${e.scrollWidth} > ${e.clientWidth}`)];
}

/** Runs in the page: what stays in place takes no more than half of what scrolls. */
function roomBelowSticky() {
  const scrolled = document.querySelector(".time");
  const held = [...scrolled.querySelectorAll("*")]
    .filter((e) => getComputedStyle(e).position === "sticky")
    .reduce((sum, e) => sum + e.getBoundingClientRect().height, 0);
  return held > scrolled.clientHeight / 2 ? [`${held} of ${scrolled.clientHeight} are held`] : [];
}

/** The controls of the page that Tab does not come to; of tabs and of what the slider leads to one is enough. */
async function missedByTab(page) {
  const controls = () =>
    [...document.querySelectorAll("button, a[href], input, select, [tabindex='0']")].filter(
      (e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ visibilityProperty: true }),
    );
  const count = await page.evaluate(
    `(globalThis.controls = (${controls})(), globalThis.reached = new Set(), globalThis.controls.length)`,
  );
  await page.evaluate(() => document.querySelector("#skip").focus());
  for (let n = 0; n <= count; n++) {
    await page.evaluate(() => globalThis.reached.add(document.activeElement));
    await page.keyboard.press("Tab");
  }
  return page.evaluate(() =>
    globalThis.controls.filter((e) => !globalThis.reached.has(e)).map((e) => e.outerHTML.slice(0, 120)),
  );
}
