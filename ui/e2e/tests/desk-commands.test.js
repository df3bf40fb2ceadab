import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "../lib/inspect.js";
import { rig, skip } from "../lib/rig.js";
import { closeAll, desktopAPI, openWindow } from "../lib/windows.js";

const it = rig({ desktop: true, model: true });

const post = (path, body) =>
  desktopAPI(it.page, path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

test("the running command of a task is shown in Terminal, and ended there for its agent too", { skip }, async () => {
  const { page } = it;
  await closeAll(page);
  await post("/settings", { key: "terminal.reader", value: "on" });
  const { win } = await openWindow(page, "terminal", "", { x: 40, y: 30, width: 900, height: 480 });
  await win.locator(".terminal-host[data-link=live]").waitFor();
  const { body } = await post("/prompts", { text: "serve" });
  const tab = win.getByRole("tab", { name: /^Of an agent: for i in 1 2 3/ });
  await tab.waitFor();
  // A terminal of the person stays in front until they choose the command.
  assert.equal(await win.locator(".terminal-agent").count(), 0);
  await tab.click();
  await win.locator(".xterm-accessibility-tree").getByText("page-3").waitFor();
  await win.getByText(/^An agent runs this since/).waitFor();
  await win.getByText("For the task: Serve the pages.").waitFor();
  await inspect(page, "terminal-agent-command", { width: page.viewportSize().width });
  await win.getByRole("button", { name: "End", exact: true }).click();

  await win.getByText(/^It was ended at .* by SIGTERM\.$/).waitFor();
  // What it printed stays, and nothing ends it twice.
  await win.locator(".xterm-accessibility-tree").getByText("page-3").waitFor();
  assert.equal(await win.getByRole("button", { name: "End", exact: true }).count(), 0);
  await inspect(page, "terminal-agent-ended", { width: page.viewportSize().width });
  const { body: log } = await desktopAPI(page, `/events?run=${body.run}&limit=1000`);
  const ended = log.events.find((e) => e.type === "command.end_requested");
  assert.equal(ended?.source, "desktop");
  const { body: list } = await desktopAPI(page, "/terminals");
  assert.deepEqual(
    list.filter((t) => t.agent),
    [],
  );
  await win.getByRole("button", { name: /^Close for i in/ }).click();
  await win.locator(".terminal-agent").waitFor({ state: "detached" });
  await win.locator(".terminal-host[data-link=live]").waitFor();
});
