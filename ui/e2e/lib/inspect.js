// Looks at a page as those do who may be kept out of it.
import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Where the screenshots go. */
const shots = join(tmpdir(), "choir-screenshots");

/** Takes a screenshot once all fonts are there. */
export async function shoot(page, name) {
  await mkdir(shots, { recursive: true });
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: join(shots, `${name}.png`), animations: "disabled" });
}

/**
 * Takes a screenshot and looks for what keeps people out.
 * @param {{ width: number, touch?: boolean }} size
 */
export async function inspect(page, name, { width, touch }) {
  await shoot(page, name);
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
    .filter((e) => !e.matches(".skip:not(:focus)"))
    .filter((e) => {
      const box = e.getBoundingClientRect();
      return box.width > 0 && box.height < 43.5 && e.id !== "prompt";
    })
    .map((e) => `${e.tagName} ${e.className} ${e.textContent.slice(0, 30)} ${e.getBoundingClientRect().height}`);
}
