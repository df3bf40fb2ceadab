import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { rig, skip } from "../lib/rig.js";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Where the screenshots go. */
const shots = join(tmpdir(), "choir-screenshots");

const sizes = [
  { name: "1440x900", width: 1440, height: 900 },
  { name: "1440x900-dark", width: 1440, height: 900, dark: true },
  { name: "390x844", width: 390, height: 844, touch: true },
  { name: "390x844-dark", width: 390, height: 844, touch: true, dark: true },
];

for (const { name, ...size } of sizes) {
  describe(name, () => {
    const it = rig({ browser: size });

    test("the first screen", { skip }, () => inspect(it.page, `${name}-home`, size));

    test("a finished run, and each panel", { skip }, async () => {
      const { page } = it;
      await page.getByRole("button", { name: "Play the recorded demo" }).click();
      await page.locator(".run-bar").getByText("Signed by the Director").waitFor();
      await page.locator(".markdown h1").waitFor();
      // The page as it is once nothing pops up any more.
      await page.locator("[data-sonner-toast]").first().waitFor();
      await page.getByRole("button", { name: "Close toast" }).first().click();
      await page.locator("[data-sonner-toast]").waitFor({ state: "detached" });
      await inspect(page, `${name}-run`, size);
      await page.getByRole("tab", { name: /^Changes/ }).click();
      await page.locator(".diff-add").first().waitFor();
      await inspect(page, `${name}-changes`, size);
      for (const panel of ["Work", "Timeline", "Events"]) {
        await page.getByRole(size.touch ? "button" : "tab", { name: panel, exact: true }).click();
        await page.getByRole("tabpanel", { name: panel }).waitFor();
        await inspect(page, `${name}-${panel.toLowerCase()}`, size);
      }
    });

    test("the launcher", { skip }, async () => {
      await it.page.keyboard.press("Control+k");
      await it.page.getByRole("dialog").waitFor();
      await inspect(it.page, `${name}-launcher`, size);
      await it.page.keyboard.press("Escape");
    });

    test("nothing was complained about on the console", { skip }, () => assert.deepEqual(it.complaints, []));
  });
}

/** Takes a screenshot and looks for what keeps people out. */
async function inspect(page, name, { width, touch }) {
  await mkdir(shots, { recursive: true });
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: join(shots, `${name}.png`), animations: "disabled" });
  assert.ok(
    (await page.evaluate(() => document.documentElement.scrollWidth)) <= width,
    `${name} is wider than the screen`,
  );
  // Through the debugger, which the page's own policy does not bind.
  await page.evaluate(await readFile(axe, "utf8"));
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const serious = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
  assert.deepEqual(
    serious.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 160)).join(" | ")}`),
    [],
    name,
  );
  if (touch) assert.deepEqual(await page.evaluate(smallTargets), [], `${name} has targets too small for a finger`);
}

/** Runs in the page: what can be pressed and is under 44 px high. */
function smallTargets() {
  const inline = (e) => e.closest(".markdown") !== null;
  return [...document.querySelectorAll("button, summary, select, textarea, input, a[href]")]
    .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !inline(e) && !e.closest("label"))
    .filter((e) => {
      const box = e.getBoundingClientRect();
      return box.width > 0 && box.height < 43.5 && e.id !== "prompt";
    })
    .map((e) => `${e.tagName} ${e.className} ${e.textContent.slice(0, 30)} ${e.getBoundingClientRect().height}`);
}
