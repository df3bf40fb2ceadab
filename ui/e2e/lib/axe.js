// What axe finds in a page and in the frames that stand in it, of any weight.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const source = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The levels of WCAG that are meant, and what axe advises besides. */
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/**
 * Lists the violations in a page or frame, and in the frames inside that `within` names, as if they were one page.
 * @param {{ within?: object[], off?: string[] }} [how] the frames, and rules that are not asked
 */
export async function violationsIn(frame, { within = [], off = [] } = {}) {
  const found = await look(frame, within, off);
  // Something may have begun to fade in while axe looked, with less contrast than it will have.
  return found.length > 0 ? look(frame, within, off) : found;
}

async function look(frame, within, off) {
  for (const each of [frame, ...within]) {
    await settled(each);
    // Through the debugger, which the page's own policy does not bind.
    await each.evaluate(source);
    // The frames are of other origins, and answer this page.
    await each.evaluate(() => globalThis.axe.configure({ allowedOrigins: ["<unsafe_all_origins>"] }));
  }
  return frame.evaluate(
    async ([runOnly, off]) => {
      const rules = Object.fromEntries(off.map((rule) => [rule, { enabled: false }]));
      const { violations } = await globalThis.axe.run(document, { runOnly, rules });
      return violations.map(
        (v) => `${v.id} (${v.impact}): ${v.nodes.map((n) => `${n.target} ${n.html.slice(0, 140)}`).join(" | ")}`,
      );
    },
    [tags, off],
  );
}

/** Waits until nothing fades in any more; a spinner never ends. */
function settled(frame) {
  return frame.evaluate(() =>
    Promise.allSettled(
      document
        .getAnimations()
        .filter((a) => Number.isFinite(a.effect.getComputedTiming().endTime))
        .map((a) => a.finished),
    ),
  );
}
