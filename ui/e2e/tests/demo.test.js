import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../lib/desktop.js";
import { rig, skip } from "../lib/rig.js";
import { desktopAPI, desktopOf, known, until, writeFile } from "../lib/windows.js";

// What the demo may not do: replace what is one's own, or begin while it plays.
const it = rig({ desktop: true });
const desk = () => desktopOf(it.page);
const prompt = () => desk().locator("#prompt");
const runs = async () => (await desktopAPI(it.page, "/runs")).body;
const kinds = async () => (await known(it.page)).windows.map((w) => w.app).sort();
const read = async (path) =>
  (await frameOf(it.page)).evaluate(async (path) => {
    const [computer] = location.host.split(".");
    return (await fetch(`/api/computers/${computer}/files/${path}`)).text();
  }, path);

/** Waits for a message that says so, with its way out, and closes it. */
async function told(title, remedy) {
  const message = desk().locator("[data-sonner-toast]");
  await message.getByText(title).waitFor();
  await message.getByText(remedy).waitFor();
  await message.getByRole("button").first().click();
  await message.waitFor({ state: "detached" });
}

test("a folder of one's own in its place is left alone, and said to be in the way", { skip }, async () => {
  await writeFile(it.page, "workspace/tally/thesis.md", "mine");
  await desk().getByRole("button", { name: "Show me a demo" }).click();
  await told("There is a workspace/tally already, which would be replaced", "Rename or move workspace/tally");
  assert.deepEqual(await runs(), []);
  assert.equal(await read("workspace/tally/thesis.md"), "mine");
  const { status } = await desktopAPI(it.page, "/moves", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ items: [{ from: "workspace/tally", to: "workspace/thesis", if_match: "*" }] }),
  });
  assert.equal(status, 200);
  await desk().getByRole("button", { name: "Show me a demo" }).click();
  await desk().getByRole("button", { name: "Faster" }).waitFor();
});

test("while it plays another is refused, and its windows stay", { skip }, async () => {
  await until(it.page, ({ windows }) => windows.some((w) => w.app === "writer"));
  const { marks } = (await desktopAPI(it.page, "/timeline?limit=50")).body;
  const [run] = await runs();
  const opened = marks.find((m) => m.kind === "windows");
  assert.match(opened.text, /^the run opened /);
  assert.equal(opened.run, run.id);
  await prompt().fill("?demo");
  await prompt().press("Enter");
  await told("The demo is playing already", "Wait for its end or stop it: on its card");
  assert.ok((await kinds()).includes("writer"));
  await desk().locator(".card-demo").getByRole("button", { name: "Stop" }).click();
  await desk().getByRole("button", { name: "Close the demo" }).click();
  await until(it.page, ({ windows }) => windows.length === 0);
  assert.deepEqual(
    (await runs()).map((r) => r.state),
    ["cancelled"],
  );
  assert.equal(await read("workspace/thesis/thesis.md"), "mine");
});

test("nothing but the two refusals was complained about on the console", { skip }, () => {
  const refused = it.complaints.filter((c) => /status of 409/.test(c));
  assert.deepEqual([refused.length, it.complaints.length], [2, 2], it.complaints.join("\n"));
});
