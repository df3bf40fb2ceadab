import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { goToPage } from "../lib/desktop.js";
import { inspect, shoot } from "../lib/inspect.js";
import { api, ask, closeMessages, rig, skip } from "../lib/rig.js";

const tally = "workspace/tally";

/** What is on the disk now: a save that expects something else is refused with the digest of what is there. */
async function onDisk(page, path) {
  const expected = `"${"0".repeat(64)}"`;
  const { status, body } = await api(page, `/files/${path}`, {
    method: "PUT",
    headers: { "If-Match": expected },
    body: "",
  });
  assert.equal(status, 409, JSON.stringify(body));
  return body.digest;
}

async function write(page, path, body) {
  const { status } = await api(page, `/files/${path}`, { method: "PUT", headers: { "If-Match": "*" }, body });
  assert.equal(status, 200);
}

async function marksOf(page) {
  return (await api(page, "/timeline?limit=100")).body.marks;
}

const headOf = async (page) => (await api(page, "/timeline?limit=1")).body.head;
const slider = (page) => page.getByRole("slider", { name: "Moment" });
const content = (page) => page.getByRole("region", { name: "Text" });
const toast = (page, text) => page.locator("[data-sonner-toast]").filter({ hasText: text });

/** Waits until a moment is shown, and what is below its title belongs to it. */
async function shows(page, expected) {
  await page.locator(".time-body[aria-busy=false] h1").filter({ hasText: expected }).waitFor();
}

/** Plays the demo and looks back. */
async function lookBack(page) {
  await page.getByRole("button", { name: "Play the recorded demo" }).click();
  await page.locator(".run-bar").getByText("Signature verified").waitFor();
  await closeMessages(page);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search actions and runs" }).fill("timeline");
  await page.keyboard.press("Enter");
  await slider(page).waitFor();
  await page.locator(".band-tick").nth(5).waitFor();
}

/** Presses a key of the slider and waits for a title. */
async function press(page, key, expected) {
  await slider(page).press(key);
  await shows(page, expected);
}

/** Chooses a mark of the list. */
async function choose(page, name) {
  await page
    .getByRole("list", { name: /^What happened/ })
    .getByRole("button", { name })
    .first()
    .click();
  await shows(page, name);
}

describe("the slider", () => {
  const it = rig();

  test("goes through the run by keyboard, and shows each file as it was", { skip }, async () => {
    const { page } = it;
    await lookBack(page);
    const head = await headOf(page);
    await slider(page).focus();
    assert.equal(await slider(page).getAttribute("aria-valuetext"), "Now");
    await press(page, "Home", "Project tally added");
    await press(page, "ArrowRight", "You asked: tally lists every word");
    await shoot(page, "slider-1");
    await press(page, "ArrowRight", "edit_file changed bin/tally");
    await content(page).getByText("--top").first().waitFor();
    assert.match(await page.locator(".file-text ins").first().innerText(), /top/);
    await shoot(page, "slider-2");
    await press(page, "ArrowRight", "write_file changed tests/cases/top.args");
    await content(page).waitFor();
    await shoot(page, "slider-3");
    await press(page, "PageDown", "You asked:");
    await page.getByText("This file was not there at this moment.").waitFor();
    await press(page, "PageDown", "Project tally added");
    await press(page, "PageUp", "You asked:");
    await press(page, "PageUp", "Now");
    await press(page, "ArrowLeft", "The run finished");
    await press(page, "ArrowLeft", "Task done: Run the finished program");
    await press(page, "ArrowLeft", "Task done: Give the shell program");
    await page.getByText("Verified checkpoint").waitFor();
    await shoot(page, "slider-5");
    await press(page, "ArrowLeft", "edit_file changed README.md");
    await content(page).getByText("`--top N` lists only").waitFor();
    await shoot(page, "slider-4");
    assert.match(
      await slider(page).getAttribute("aria-valuetext"),
      /^\d\d:\d\d:\d\d, edit_file changed README\.md, 7 of 10$/,
    );
    assert.equal(await headOf(page), head, "looking changed something");
  });

  test("says that the past is looked at; Escape returns to now", { skip }, async () => {
    const { page } = it;
    await page.getByText(/^You are looking at \d\d:\d\d:\d\d. Nothing is changed\.$/).waitFor();
    await page.waitForURL(/\/time\/\d+$/);
    await page.keyboard.press("Escape");
    await shows(page, "Now");
    await page.waitForURL(/\/time$/);
    assert.equal(await page.getByText(/^You are looking at/).count(), 0);
    await shoot(page, "slider-6");
  });

  test("goes by pointer, from the beginning to now", { skip }, async () => {
    const { page } = it;
    const box = await slider(page).boundingBox();
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width - 15, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, y, { steps: 8 });
    await page.mouse.move(box.x + 12, y, { steps: 8 });
    await shows(page, "Project tally added");
    await page.mouse.move(box.x + box.width, y, { steps: 4 });
    await page.mouse.up();
    await shows(page, "Now");
  });

  test("a file reads as it was, before and after it was changed", { skip }, async () => {
    const { page } = it;
    await choose(page, "You asked:");
    const tree = page.getByRole("navigation", { name: "Files then" });
    await tree.getByRole("button", { name: /^README.md/ }).click();
    await content(page).waitFor();
    assert.doesNotMatch(await content(page).innerText(), /--top N/);
    await choose(page, /^edit_file changed README/);
    await content(page).getByText("`--top N` lists only").waitFor();
  });

  test("compares then with now: files, documents and what happened between", { skip }, async () => {
    const { page } = it;
    await choose(page, "You asked:");
    await page.getByRole("tab", { name: /^Compare/ }).click();
    const changes = page.getByRole("tabpanel", { name: "Comparison" });
    await changes
      .getByRole("region", { name: `Changes in ${tally}/bin/tally` })
      .locator(".diff-add")
      .first()
      .waitFor();
    await changes.getByRole("heading", { name: /^Document “tally lists/ }).waitFor();
    await changes.getByRole("region", { name: "Changes in none to v8" }).waitFor();
    await changes.getByText("What happened between").click();
    await changes.getByText(/finished: done/).waitFor();
    await page.getByRole("tab", { name: "In this step" }).click();
    await changes.getByText("This step changed no files.").waitFor();
  });

  test("shows documents and runs as they were", { skip }, async () => {
    const { page } = it;
    await choose(page, /^edit_file changed README/);
    await page.getByRole("tab", { name: /^Documents/ }).click();
    await page.getByRole("article").getByText("Step 1 of 2: working.").waitFor();
    await page.getByRole("tab", { name: /^Runs/ }).click();
    await page.getByRole("button", { name: /At work then/ }).waitFor();
    await choose(page, "The run finished");
    await page.getByRole("tabpanel", { name: "Runs" }).getByRole("button", { name: /Done$/ }).waitFor();
  });

  test("stays where it is while things happen", { skip }, async () => {
    const { page } = it;
    await choose(page, /^edit_file changed README/);
    const before = await slider(page).getAttribute("aria-valuetext");
    await api(page, "/checkpoints", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
    await page.getByRole("button", { name: /^Checkpoint/ }).waitFor();
    const after = await slider(page).getAttribute("aria-valuetext");
    assert.equal(
      after,
      before.replace(/of (\d+)$/, (_, n) => `of ${Number(n) + 1}`),
    );
  });

  test("a reload shows the same moment", { skip }, async () => {
    const { page } = it;
    await page.waitForURL(/\/time\/\d+$/);
    await page.reload();
    await shows(page, "edit_file changed README.md");
  });

  test("nothing was complained about on the console", { skip }, () => assert.deepEqual(it.complaints, []));
});

describe("going back", () => {
  const it = rig();
  const state = {};

  test("says what will change, changes the workspace, and offers the way back", { skip }, async () => {
    const { page } = it;
    await lookBack(page);
    state.now = await onDisk(page, `${tally}/bin/tally`);
    await choose(page, "You asked:");
    await page.getByRole("button", { name: "Go back to here" }).click();
    const dialog = page.getByRole("dialog", { name: "Go back" });
    await dialog.getByText("5 files will change.").waitFor();
    await dialog.getByText(/^The document “tally lists.*” will be gone\.$/).waitFor();
    assert.equal(await onDisk(page, `${tally}/bin/tally`), state.now, "the preview changed something");
    await dialog.getByRole("button", { name: "Go back", exact: true }).click();
    await toast(page, /You went back to .*: 5 files changed/).waitFor();
    await shows(page, "Now");
    await page.getByRole("button", { name: /^You went back to/ }).waitFor();
    state.back = await onDisk(page, `${tally}/bin/tally`);
    assert.notEqual(state.back, state.now);
    const { seq } = (await marksOf(page)).find((m) => m.kind === "prompt");
    const { body } = await api(page, `/diff?from=${seq}&to=0`);
    assert.deepEqual(body.files, []);
  });

  test("is undone by one press, and the log keeps both", { skip }, async () => {
    const { page } = it;
    await toast(page, /You went back/)
      .getByRole("button", { name: "Undo" })
      .click();
    await toast(page, /Undone: 5 files changed/).waitFor();
    await page.getByRole("button", { name: /^You undid: You went back to/ }).waitFor();
    assert.equal(await onDisk(page, `${tally}/bin/tally`), state.now);
    const kinds = (await marksOf(page)).map((m) => m.kind);
    assert.deepEqual(kinds.slice(0, 2), ["rewind", "rewind"]);
    // What is offered here goes with the page.
    await goToPage(page, "Models & keys");
    await toast(page, /Undone/).waitFor({ state: "detached" });
    await page.goBack();
    await shows(page, "Now");
  });

  test("one step is undone, and what came after it is kept", { skip }, async () => {
    const { page } = it;
    const readme = await onDisk(page, `${tally}/README.md`);
    await choose(page, /^write_file changed tests\/cases\/top.in/);
    await page.getByRole("button", { name: "Undo this" }).click();
    const dialog = page.getByRole("dialog", { name: "Undo this" });
    await dialog.getByText(`${tally}/tests/cases/top.in`).waitFor();
    await dialog.getByRole("button", { name: "Undo", exact: true }).click();
    await page.getByRole("button", { name: "You undid one step" }).waitFor();
    assert.equal(await onDisk(page, `${tally}/README.md`), readme);
    const { status } = await api(page, `/files/${tally}/tests/cases/top.in`, {
      method: "DELETE",
      headers: { "If-Match": "*" },
    });
    assert.equal(status, 404);
  });

  test("a step that later work depends on is not undone", { skip }, async () => {
    const { page } = it;
    await write(page, `${tally}/README.md`, "all of it is written anew\n");
    const head = await headOf(page);
    await choose(page, /^edit_file changed README/);
    await page.getByRole("button", { name: "Undo this" }).click();
    const dialog = page.getByRole("dialog", { name: "Undo this" });
    const conflicts = dialog.getByRole("alert");
    await conflicts.getByText("Nothing was changed").waitFor();
    await conflicts.getByText(`${tally}/README.md`).waitFor();
    assert.equal(await dialog.getByRole("button", { name: "Undo", exact: true }).count(), 0);
    await dialog.getByRole("button", { name: "Close" }).click();
    assert.equal(await headOf(page), head);
  });

  test("files that look like keys are named at their checkpoint", { skip }, async () => {
    const { page } = it;
    await write(page, `${tally}/id_ed25519`, "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Make a checkpoint" }).click();
    await choose(page, /^Checkpoint/);
    await page.getByRole("button", { name: /1 key file left out/ }).waitFor();
    await page.getByRole("note").getByText(`${tally}/id_ed25519`).waitFor();
  });

  // Refused saves and conflicts are answers, which a browser calls errors.
  test("nothing else was complained about on the console", { skip }, () =>
    assert.deepEqual(
      it.complaints.filter((c) => !/status of (409|404)/.test(c)),
      [],
    ),
  );
});

describe("going back while a run works", () => {
  const it = rig({ model: true });

  test("says which run will be stopped, and stops it", { skip }, async () => {
    const { page } = it;
    await ask(page, "linger while I look back");
    await page.getByText("begun").first().waitFor();
    await page.getByRole("tab", { name: "Timeline" }).click();
    await choose(page, "You asked: linger");
    await page.getByRole("button", { name: "Go back to here" }).click();
    const dialog = page.getByRole("dialog", { name: "Go back" });
    await dialog.getByText("This run is at work and will be stopped: linger while I look back").waitFor();
    await dialog.getByRole("button", { name: "Go back", exact: true }).click();
    await toast(page, /^You went back to/).waitFor();
    await page.getByRole("tab", { name: /^Runs/ }).click();
    await page.getByRole("button", { name: /^Stopped linger/ }).waitFor();
  });
});

describe("going back from Recover", () => {
  const it = rig();

  test("what would change is drawn though the timeline was never open", { skip }, async () => {
    const { page } = it;
    const headers = { "If-None-Match": "*" };
    await api(page, "/files/workspace/note.md", { method: "PUT", headers, body: "a note" });
    await api(page, "/checkpoints", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
    await page.goto(`${it.choir.address}/recover`);
    await page.locator(".recover-list li").first().getByRole("button", { name: "Go back" }).click();
    const effects = page.getByRole("dialog", { name: "Go back" }).locator(".effects");
    await effects.waitFor();
    assert.equal(await effects.evaluate((list) => getComputedStyle(list).display), "grid");
    // The list of checkpoints, which the dialog lies in, has lines between its rows.
    const edge = effects.locator("li").first();
    assert.equal(await edge.evaluate((item) => getComputedStyle(item).borderTopWidth), "0px");
    await shoot(page, "recover-go-back");
  });
});

describe("a second computer", () => {
  const it = rig();

  test("a fork begins at the moment, and stands in the switcher", { skip }, async () => {
    const { page } = it;
    await lookBack(page);
    await choose(page, "You asked:");
    await page.getByRole("button", { name: "Fork from here" }).click();
    const dialog = page.getByRole("dialog", { name: "Fork from here" });
    await dialog.getByLabel("Name").fill("Another try");
    await dialog.getByRole("button", { name: "Make the fork" }).click();
    await toast(page, "“Another try” is ready").waitFor();
    await page.getByRole("button", { name: /show computers/ }).click();
    const computers = page.getByRole("list", { name: "Your computers" });
    assert.equal(await computers.getByRole("link").count(), 2);
    await computers.getByRole("link", { name: /^Another try/ }).click();
    await page.getByRole("button", { name: /^Another try/ }).waitFor();
    await page.waitForURL(/\?computer=/);
    await page.reload();
    await page.getByRole("button", { name: /^Another try/ }).waitFor();
    await page.getByRole("tab", { name: "Timeline" }).click();
    const marks = page.getByRole("list", { name: /^What happened/ });
    await marks.getByRole("button", { name: /^You asked:/ }).waitFor();
    assert.equal(await marks.getByRole("button", { name: /edit_file/ }).count(), 0, "the fork has a later past");
  });

  test("a whole computer leaves as one file", { skip }, async () => {
    const { page } = it;
    await page.getByRole("button", { name: /show computers/ }).click();
    const waiting = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export this computer as one file" }).click();
    const download = await waiting;
    assert.equal(download.suggestedFilename(), "computer.choir");
    const file = await readFile(await download.path());
    assert.equal(file.subarray(257, 262).toString(), "ustar");
  });

  test("nothing was complained about on the console", { skip }, () => assert.deepEqual(it.complaints, []));
});

describe("ten thousand marks", () => {
  const it = rig();
  const all = Array.from({ length: 10_000 }, (_, i) => ({
    seq: i + 1,
    at: new Date(Date.UTC(2026, 0, 1) + i * 60_000).toISOString(),
    kind: i % 10 ? "call" : "prompt",
    source: "associate",
    text: i % 10 ? `edit_file changed file-${i}` : `You asked: prompt ${i}`,
    told:
      i % 10
        ? { sentence: "callFile", tool: "edit_file", about: [`file-${i}`] }
        : { sentence: "asked", about: [`prompt ${i}`] },
    run: `run-${Math.floor(i / 10)}`,
    files: 1,
  }));

  test("are read page by page, and few of them are drawn", { skip }, async () => {
    const { page } = it;
    const asked = [];
    await page.route(/\/timeline\?/, (route) => {
      const query = new URL(route.request().url()).searchParams;
      const [limit, before] = [Number(query.get("limit")), Number(query.get("before")) || Number.POSITIVE_INFINITY];
      asked.push(before);
      const marks = all
        .filter((m) => m.seq < before)
        .slice(-limit)
        .reverse();
      return route.fulfill({ json: { marks, head: 10_000 } });
    });
    await page.reload();
    const row = page.getByRole("list", { name: /^What happened/ }).getByRole("listitem");
    await row.first().waitFor();
    // The newest page is read again whenever the computer did something meanwhile.
    const earlier = () => asked.filter(Number.isFinite);
    assert.equal(earlier().length, 0, "more than what is seen was read");
    const last = () => page.locator(".virtual").evaluate((e) => e.scrollTo(0, e.scrollHeight));
    while (earlier().length < 19) {
      const answered = page.waitForResponse(/\/timeline\?/);
      await last();
      await answered;
    }
    // The last page is there before the end of the list is looked at.
    await page.locator('[aria-setsize="11000"]').first().waitFor();
    await last();
    await page.getByRole("button", { name: "You asked: prompt 0" }).waitFor();
    assert.equal(await row.last().getAttribute("aria-setsize"), "11000");
    assert.equal(new Set(earlier()).size, earlier().length, "a page was read twice");
    await page.getByRole("button", { name: "Open the timeline" }).click();
    await slider(page).waitFor();
    assert.equal(await slider(page).getAttribute("max"), "10000");
    const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
    assert.ok(nodes < 2_500, `${nodes} nodes`);
    await slider(page).press("Home");
    assert.match(await slider(page).getAttribute("aria-valuetext"), /You asked: prompt 0, 1 of 10000$/);
  });
});

const sizes = [
  { name: "1440x900", width: 1440, height: 900 },
  { name: "1440x900-dark", width: 1440, height: 900, dark: true },
  { name: "390x844", width: 390, height: 844, touch: true },
];

for (const { name, ...size } of sizes) {
  describe(`looking back at ${name}`, () => {
    const it = rig({ browser: size });

    test("every part can be read and used", { skip }, async () => {
      const { page } = it;
      await lookBack(page);
      await inspect(page, `${name}-time-now`, size);
      await slider(page).focus();
      for (let n = 0; n < 4; n++) await slider(page).press("ArrowLeft");
      await shows(page, "edit_file changed README.md");
      await content(page).getByText("`--top N` lists only").waitFor();
      await inspect(page, `${name}-time`, size);
      for (const part of ["Documents", "Runs", "Compare"]) {
        await page.getByRole("tab", { name: new RegExp(`^${part}`) }).click();
        await page.getByRole("tabpanel", { name: part }).waitFor();
        await inspect(page, `${name}-time-${part.toLowerCase()}`, size);
      }
      await page.getByRole("button", { name: "Go back to here" }).click();
      await page.locator(".effects").waitFor();
      await inspect(page, `${name}-time-back`, size);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByText(/^You are looking at/).waitFor();
      await page.getByRole("button", { name: /show computers/ }).click();
      await inspect(page, `${name}-time-computers`, size);
    });
  });
}
