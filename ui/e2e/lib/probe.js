// What draws pictures on this machine, and whether it draws as what drew those that are kept.
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { openBrowser } from "./browser.js";
import { shoot } from "./pictures.js";

const drawnBy = new URL("../pictures/drawn-by.json", import.meta.url);

/**
 * What pictures here are drawn by: Chromium, and the digests of the bundled fonts
 * and of a page that shows all that machines draw differently.
 */
export async function drawer() {
  const fonts = await fontFaces();
  const { page, context, close } = await openBrowser({ stock: true, width: 640, height: 360 });
  try {
    const session = await context.newCDPSession(page);
    const { product } = await session.send("Browser.getVersion");
    await page.setContent(probe(fonts));
    await page.evaluate(() => Promise.all([...document.fonts].map((font) => font.load())));
    return { chromium: product, fonts: digest(fonts), probe: digest((await shoot(page)).data) };
  } finally {
    await close();
  }
}

/** What drew the pictures that are kept. */
export async function keptDrawer() {
  return JSON.parse(await readFile(drawnBy, "utf8"));
}

/** Keeps what drew the pictures. */
export async function keepDrawer(by) {
  await writeFile(drawnBy, `${JSON.stringify(by, null, 2)}\n`);
}

/**
 * Why pictures that are drawn here cannot be held against the ones that are kept, or false.
 * Other fonts are no reason: they are the product's.
 */
export function differs(here, kept) {
  if (here.probe === kept.probe || here.fonts !== kept.fonts) return false;
  return `${here.chromium} here draws a page that shows nothing of choir unlike ${kept.chromium} and its libraries, which drew the pictures: make pictures`;
}

const digest = (data) => createHash("sha256").update(data).digest("hex");

/** The bundled fonts, each with its file in the style sheet. */
async function fontFaces() {
  const desktop = new URL("../../desktop/", import.meta.url);
  const css = await readFile(new URL("base/styles/fonts.css", desktop), "utf8");
  const named = [...css.matchAll(/url\("([^"]+)"\)/g)].map(([, path]) => path);
  const files = await Promise.all(
    named.map((path) => readFile(fileURLToPath(new URL(`node_modules/${path}`, desktop)), "base64")),
  );
  return named.reduce((text, path, i) => text.replace(path, `data:font/woff2;base64,${files[i]}`), css);
}

/** A page with text in every bundled font and the system's, signs that no bundled font has, controls, a gradient, a shadow and round corners. */
const probe = (fonts) => `<!doctype html><style>${fonts}
  body { margin: 0; padding: 16px; color: #22211e; background: radial-gradient(120% 90% at 12% 0%, #f3eee0, #c8dad2); }
  p { margin: 0 0 10px; font: 400 14px/1.5 Inter; text-rendering: optimizeLegibility }
  div { height: 90px; border: 1px solid #2a5c4f80; border-radius: 12px; background: #fffc; box-shadow: 0 22px 60px #2828; backdrop-filter: blur(8px) }
</style><p>Quick wafting zephyrs vex bold Jim. 0123456789</p>
<p style="font: 650 12.5px/1.5 Inter">Quick wafting zephyrs vex bold Jim. 0123456789 → ← ↩ ☐ ☑ ● ▪ ⌘</p>
<p style="font: 400 17px/1.5 'Source Serif'">Quick wafting zephyrs vex bold Jim. 0123456789</p>
<p style="font: 600 28px/1.5 'Source Serif'">Quick wafting zephyrs vex bold Jim.</p>
<p style="font: 400 13.5px/1.5 'JetBrains Mono'">Quick wafting zephyrs vex bold Jim. 0123456789 =&gt; !=</p>
<p style="font: 16px/1.5 system-ui">Quick wafting zephyrs vex bold Jim. <input type="checkbox" checked> <select><option>Jim</select> <input type="range"></p>
<div></div>`;
