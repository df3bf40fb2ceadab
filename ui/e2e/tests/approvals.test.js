// A result waits for the owner, who answers where no desktop can.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { violationsIn } from "../lib/axe.js";
import { api, ask, rig, runIs, skip } from "../lib/rig.js";
import { desktopAPI, enterDesktop } from "../lib/windows.js";

const it = rig({
  model: true,
  desktop: true,
  config:
    '[egress]\nmode = "git+pkg"\n[[approve]]\nname = "guarded files"\npath = "guarded.txt"\n[[approve]]\negress = "*"\n',
});
const bar = () => it.page.getByRole("link", { name: "A result waits for your approval" });
const button = (name) => it.page.getByRole("button", { name, exact: true });

/** Prompts for a run whose result waits, and opens the page of the answers. */
async function held(prompt) {
  await it.page.goto(`${it.choir.address}/runs`);
  const run = await ask(it.page, prompt);
  await bar().click();
  await it.page.waitForURL("**/models/approvals");
  await it.page.getByText("Held by: guarded files (path guarded.txt)").waitFor();
  await button("Approve").waitFor();
  return run;
}

const ended = (run, state) => runIs(it.page, run, state);

/** The guarded file as the log knows it; undefined for none. */
async function guarded() {
  const { body } = await api(it.page, "/files?prefix=workspace/guarded.txt");
  return body[0]?.digest;
}

test("a result that waits is shown with its change, and approved", { skip }, async () => {
  const run = await held("guard it");
  assert.equal(await it.page.locator("iframe").count(), 0, "a desktop is beside the answers");
  assert.equal(await guarded(), undefined, "something of it is in the files");
  for (const said of [
    "Held by: egress *",
    "1 file, lines: +1 −0",
    "It ran: echo guarded > workspace/guarded.txt",
    "It wanted shop.example:80; nothing was sent",
    "Checked with: grep -q guarded workspace/guarded.txt (exit code 0)",
    "Verified:",
    "workspace/guarded.txt",
  ]) {
    await it.page.getByText(said).first().waitFor();
  }
  assert.deepEqual(await violationsIn(it.page), []);
  if (process.env.APPROVALS_SHOT) await it.page.screenshot({ path: process.env.APPROVALS_SHOT, fullPage: true });
  await button("Approve").click();
  await it.page.getByText("Nothing waits for your approval.").waitFor();
  await ended(run, "done");
  assert.ok(await guarded(), "it did not land");
  await bar().waitFor({ state: "detached" });
});

test("what is refused leaves the files alone, and the Director hears why", { skip }, async () => {
  const was = await guarded();
  const run = await held("spurn it");
  await it.page.getByLabel("Why not, for the agent").fill("keep what is there");
  await button("Refuse").click();
  await it.page.getByText("Nothing waits for your approval.").waitFor();
  const { tasks } = await ended(run, "failed");
  assert.equal(tasks[0].code, "not_approved");
  assert.match(tasks[0].summary, /keep what is there/);
  assert.equal(await guarded(), was);
});

test("files that moved on are left alone, and it runs again", { skip }, async () => {
  const run = await held("spurn it");
  const [computer] = await it.page.evaluate(async () => (await fetch("/api/computers")).json());
  writeFileSync(`${it.choir.data}/computers/${computer.id}/associate/workspace/workspace/guarded.txt`, "mine");
  await button("Approve").click();
  await it.page.getByRole("alert").getByText("The files moved on since.").waitFor();
  await button("Run again").click();
  await it.page.getByText("mine", { exact: true }).waitFor();
  it.complaints.splice(0); // of the refused approval
  await button("Refuse").click();
  await ended(run, "failed");
});

test("a desktop can see and answer nothing", { skip }, async () => {
  const run = await held("guard it once more, which changes it back");
  const { body } = await api(it.page, "/approvals");
  const [{ task }] = body.approvals;
  await it.page.goto(`${it.choir.address}/`);
  await enterDesktop(it.page);
  for (const answer of ["approve", "refuse", "again"]) {
    const said = await desktopAPI(it.page, `/approvals/${task}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ answer }),
    });
    assert.equal(said.status, 403, answer);
  }
  for (const path of ["/approvals", `/approvals/${task}`]) {
    assert.equal((await desktopAPI(it.page, path)).status, 403, path);
  }
  it.complaints.splice(0); // of these answers
  assert.equal((await api(it.page, "/approvals")).body.approvals.length, 1);
  await it.page.goto(`${it.choir.address}/models/approvals`);
  await button("Approve").click();
  await ended(run, "done");
});

test("nothing else was complained about on the console", { skip }, () => assert.deepEqual(it.complaints, []));
