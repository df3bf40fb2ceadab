import assert from "node:assert/strict";
import { test } from "node:test";
import { rig, skip } from "../lib/rig.js";
import { registered, reloadDesktop } from "../lib/states.js";
import { leastWorked } from "../lib/tasks.js";
import { closeAll, desktopAPI, openWindow, writeFile } from "../lib/windows.js";

const it = rig({ desktop: true });

const FILE = "opening/sum.py";
const TEXT =
  "## Plan\n\n1. [x] **Make** it\n2. [ ] Check it\n\nDone so far, see [this](https://example.com).\n\n".repeat(20);

/** Milliseconds of processor time that no task may take while an app opens. A busy machine takes up to three times as long. */
const WORK_MS = 150;

/** What an app opens with, and what is seen of it then. */
const begun = {
  code: { subject: FILE, shows: ".cm-content" },
  files: { subject: "opening/", shows: "[role=option]" },
  terminal: { subject: "", shows: ".terminal-host[data-link=live]" },
  viewer: { subject: FILE, shows: "[data-autofocus]" },
  writer: { subject: () => `document:${it.document}`, shows: ".writer-text" },
};

async function furnish() {
  if (it.document) return;
  await writeFile(it.page, FILE, "def add(a, b):\n    return a + b\n".repeat(60));
  const { body } = await desktopAPI(it.page, "/documents", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ title: "Opening", content: TEXT }),
  });
  it.document = body.id;
}

/** Opens an app, and waits until its content is shown. */
async function openApp(app, { subject = "", shows = "[data-autofocus], [data-state=empty]" } = begun[app] ?? {}) {
  const { win } = await openWindow(it.page, app, typeof subject === "function" ? subject() : subject);
  await win.locator(shows).first().waitFor();
}

/** The text of an answer, fetched once more if the browser has let go of it. */
const textOf = (answer) =>
  answer.text().catch(() => answer.frame().evaluate(async (url) => (await fetch(url)).text(), answer.url()));

/** The texts of all scripts that the page fetched since its desktop was opened anew. */
async function scriptsOf(act) {
  const fetched = [];
  const note = (response) => response.request().resourceType() === "script" && fetched.push(response);
  it.page.on("response", note);
  try {
    await reloadDesktop(it.page);
    await act();
    return (await Promise.all(fetched.map(textOf))).join("\n");
  } finally {
    it.page.off("response", note);
    await closeAll(it.page);
  }
}

/** A word of each editor that its code cannot be without. */
const editors = { CodeMirror: "cm-content", ProseMirror: "ProseMirror-selectednode", xterm: "xterm-helper-textarea" };
const found = (scripts) => Object.keys(editors).filter((name) => scripts.includes(editors[name]));

test("the code of an editor comes with the first window that shows it, and no other editor's", { skip }, async () => {
  await furnish();
  const all = [];
  for (const [app, shown] of [
    ["code", { subject: "" }],
    ["writer", { subject: "" }],
    ["writer", begun.writer],
    ["code", begun.code],
    ["terminal", begun.terminal],
  ])
    all.push([app, found(await scriptsOf(() => openApp(app, shown)))]);
  assert.deepEqual(all, [
    ["code", []],
    ["writer", []],
    ["writer", ["ProseMirror"]],
    ["code", ["CodeMirror"]],
    ["terminal", ["xterm"]],
  ]);
});

for (const app of skip ? [] : await registered())
  test(`${app} opens in tasks of less than ${WORK_MS} ms of work each`, { skip }, async (t) => {
    await furnish();
    const least = await leastWorked(it.page, WORK_MS, {
      // Its code is evaluated anew each time, and in the browser's cache from the second time on.
      before: () => reloadDesktop(it.page),
      act: () => openApp(app),
      after: () => closeAll(it.page),
    });
    t.diagnostic(`the longest task took ${Math.round(least)} ms`);
    assert.ok(least < WORK_MS, `a task took ${least} ms`);
  });
