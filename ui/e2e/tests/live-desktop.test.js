import assert from "node:assert/strict";
import { test } from "node:test";
import { desktopOf, enterDesktop, frameOf, read, write } from "../lib/desktop.js";
import { api, rig, skip } from "../lib/rig.js";

const it = rig({ desktop: true });

/** How long the first start of the development server may take here, in milliseconds. */
const COLD_MS = 60_000;

/** A component with a counter, beside the desktop's own page. */
const probe = (colour) => `import { useState } from "react";

export function Probe() {
  const [count, setCount] = useState(0);
  return (
    <button type="button" id="probe" style={{ position: "fixed", top: 0, left: 0, background: "${colour}" }} onClick={() => setCount(count + 1)}>
      {count}
    </button>
  );
}
`;

const main = "choiros/src/main.tsx";
const path = "choiros/src/Probe.tsx";
const source = async () => (await api(it.page, "/desktop/source")).body;
const scripts = (frame) => frame.evaluate(() => [...document.scripts].map((s) => s.src));

/** Shows the probe beside the desktop, by editing the page's own entry. */
function withProbe(entry) {
  return `import { createRoot as probeRoot } from "react-dom/client";
import { Boundary as ProbeBoundary } from "./kit/Boundary";
import { Probe } from "./Probe";
${entry}
const place = document.createElement("div");
document.body.append(place);
probeRoot(place).render(<ProbeBoundary><Probe /></ProbeBoundary>);
`;
}

/** Waits inside the page, frame by frame, until the probe has a colour; gives the time it took. */
function untilColour(frame, colour) {
  return frame.evaluate(
    ({ colour, limit }) =>
      new Promise((done, fail) => {
        const began = performance.now();
        const look = () => {
          const button = document.querySelector("#probe");
          const shown = button && getComputedStyle(button).backgroundColor;
          const took = performance.now() - began;
          if (shown === colour) done(took);
          else if (took > limit) fail(new Error(`the probe is ${shown}, not ${colour}`));
          else requestAnimationFrame(look);
        };
        look();
      }),
    { colour, limit: COLD_MS / 2 },
  );
}

test("as it came it is the bundle, and no Node process runs", { skip }, async () => {
  assert.deepEqual(await source(), { mode: "shipped" });
  assert.match((await scripts(await frameOf(it.page))).join(), /\/assets\//);
});

test("the first change moves the page to its own source, with what was being typed", { skip }, async () => {
  const { page } = it;
  const entry = await read(page, main);
  await desktopOf(page).locator("#prompt").fill("half a thought");
  const began = performance.now();
  await write(page, path, probe("rgb(1, 2, 3)"));
  await write(page, main, withProbe(entry));
  await desktopOf(page).locator("#probe").waitFor({ timeout: COLD_MS });
  it.coldMs = performance.now() - began;
  assert.equal((await source()).mode, "live");
  await desktopOf(page).locator("#prompt").waitFor();
  await page.waitForFunction(() => document.activeElement?.tagName === "IFRAME");
  assert.equal(await desktopOf(page).locator("#prompt").inputValue(), "half a thought");
});

test("what it imports was bundled when choir was built", { skip }, async () => {
  const frame = await frameOf(it.page);
  const { optimized } = await frame.evaluate(async () => {
    const loaded = performance.getEntriesByType("resource").map((e) => e.name);
    const bundled = loaded.find((name) => /\/deps\/[^/]+\.js/.test(name));
    return (await fetch(bundled.replace(/[^/]*$/, "_metadata.json"))).json();
  });
  // The server's own bundles name their packages relative to themselves.
  assert.match(optimized.react.src, /^\/node_modules\//);
});

test("an edit changes the pixel without a reload, and a counter survives", { skip }, async (t) => {
  const frame = await enterDesktop(it.page);
  await frame.locator("#probe").click();
  await frame.locator("#probe").click();
  await frame.evaluate(() => {
    globalThis.sameDocument = true;
  });
  const took = [];
  for (const n of [10, 20, 30]) {
    const seen = untilColour(frame, `rgb(${n}, 2, 3)`);
    await write(it.page, path, probe(`rgb(${n}, 2, 3)`));
    took.push(await seen);
  }
  t.diagnostic(`edit to changed pixel: ${took.map(Math.round)} ms; from cold: ${Math.round(it.coldMs)} ms`);
  assert.equal(await frame.locator("#probe").innerText(), "2");
  assert.equal(await frame.evaluate(() => globalThis.sameDocument), true, "the page was loaded anew");
});

test("of edits that follow each other at once the last one is shown", { skip }, async () => {
  const frame = await enterDesktop(it.page);
  for (const n of [31, 33, 35]) {
    const seen = untilColour(frame, `rgb(${n}, 2, 3)`);
    for (const first of [n - 30, n - 20, n]) await write(it.page, path, probe(`rgb(${first}, 2, 3)`));
    await seen;
  }
});

test("a module imports itself by the address it came from, not by that of a newer change", { skip }, async () => {
  const frame = await frameOf(it.page);
  const served = await frame.evaluate(async () => (await fetch("/src/Probe.tsx?t=1")).text());
  assert.match(served, /__hmr_import\(import\.meta\.url\)/);
  assert.doesNotMatch(served, /from "\/src\/Probe\.tsx/, "it would run the newer one before the older one");
});

test("a file of base changes as one of src does; what an earlier desktop had elsewhere is found", {
  skip,
}, async () => {
  const { page } = it;
  const badge = "choiros/base/kit/Badge.tsx";
  const shipped = await read(page, badge);
  const withBadge = probe("rgb(37, 2, 3)")
    .replace("{count}", '{count} <Badge>{themePath("bird")}</Badge>')
    .replace("import", 'import { Badge } from "./kit/Badge";\nimport { themePath } from "./app/themes";\nimport');
  await write(page, path, withBadge);
  const frame = await frameOf(page);
  await frame.locator("#probe .badge", { hasText: "bird.json" }).waitFor();
  await frame.evaluate(() => {
    globalThis.sameDocument = "since base";
  });
  await write(page, badge, shipped.replace("{children}\n", "<b>{children}</b>\n"));
  await frame.locator("#probe .badge b").waitFor();
  await write(page, badge, shipped);
  await frame.locator("#probe .badge b").waitFor({ state: "detached" });
  assert.equal(await frame.evaluate(() => globalThis.sameDocument), "since base", "the page was loaded anew");
});

test("a broken edit shows the error, and the shell offers the way back", { skip }, async () => {
  const { page } = it;
  await write(page, path, "export function Probe( {");
  const frame = await frameOf(page);
  await frame.locator("vite-error-overlay").waitFor({ state: "attached" });
  const bar = page.getByRole("alert").filter({ hasText: "broke" });
  await bar.waitFor();
  assert.match((await source()).error, /.+/);
  await bar.getByRole("button", { name: "Have it fixed" }).waitFor();
  await bar.getByRole("button", { name: "Recover" }).click();
  await page.getByRole("heading", { name: "Recover the desktop" }).waitFor();
  assert.equal(await page.locator("iframe.desktop-frame").count(), 0, "the desktop is still in the page");
  await write(page, path, probe("rgb(40, 2, 3)"));
  await enterDesktop(page);
  await untilColour(await frameOf(page), "rgb(40, 2, 3)");
  await bar.waitFor({ state: "detached" });
});

test("a page that does not render tells the log what broke, and whose change it was", { skip }, async () => {
  const { page } = it;
  await write(page, path, 'export function Probe() {\n  throw new Error("the probe fell over");\n}\n');
  const bar = page.getByRole("alert").filter({ hasText: "broke src/Probe.tsx" });
  await bar.getByRole("button", { name: "Have it fixed" }).waitFor();
  const { body } = await api(page, "/events?limit=1000");
  const broke = body.events.filter((e) => e.type === "desktop.broke").at(-1);
  assert.equal(broke.payload.message, "the probe fell over");
  assert.equal(broke.payload.file, "src/Probe.tsx");
  assert.deepEqual([broke.payload.origin, broke.source, broke.run], ["page", "desktop", undefined]);
  await write(page, path, probe("rgb(50, 2, 3)"));
  await untilColour(await frameOf(page), "rgb(50, 2, 3)");
  await bar.waitFor({ state: "detached" });
});

test("going back to before the change ends the development server", { skip }, async () => {
  const { page } = it;
  const { body } = await api(page, "/events?limit=1000");
  const first = body.events.find((e) => e.type === "file.written" && e.payload.files.some((f) => f.path === path));
  const back = await api(page, "/rewind", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ to_seq: first.seq - 1 }),
  });
  assert.equal(back.status, 200);
  await desktopOf(page).locator("#probe").waitFor({ state: "detached" });
  await enterDesktop(page);
  assert.deepEqual(await source(), { mode: "shipped" });
  assert.match((await scripts(await frameOf(page))).join(), /\/assets\//);
});
