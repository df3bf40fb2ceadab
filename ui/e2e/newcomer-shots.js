import { openBrowser } from "./lib/browser.js";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
const [out, ...paths] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const data = process.env.DATA ?? "/tmp/newcomer-1";
const link = () => execFileSync("/work/h/newcomer/bin/choir", ["up", "--link", "--data", data]).toString().trim();
const locale = process.env.LOC ?? "de-DE";
for (const [w, h, touch] of [[1440, 900, false], [390, 844, true]]) for (const dark of [false, true]) {
  const b = await openBrowser({ width: w, height: h, touch, dark, locale });
  b.page.setDefaultTimeout(30000);
  await b.page.goto(link());
  await b.page.waitForSelector("iframe.desktop-frame");
  const origin = new URL(b.page.url()).origin;
  for (const p of paths) {
    await b.page.goto(origin + p);
    await b.page.waitForLoadState("networkidle").catch(() => {});
    await b.page.waitForTimeout(700);
    const name = `${p.replace(/[/?=]+/g, "_")}-${w}-${dark ? "dark" : "light"}.png`;
    await b.page.screenshot({ path: `${out}/${name}`, fullPage: w < 500 });
    const over = await b.page.evaluate(() => {
      const bad = [];
      const vw = document.documentElement.clientWidth;
      if (document.documentElement.scrollWidth > vw) bad.push(`page wider: ${document.documentElement.scrollWidth} > ${vw}`);
      for (const e of document.querySelectorAll("body *")) {
        const r = e.getBoundingClientRect();
        if (r.width && r.height && (r.right > vw + 1 || r.left < -1) && getComputedStyle(e).position !== "absolute") bad.push(`${e.tagName}.${e.className} ${Math.round(r.left)}..${Math.round(r.right)} ${e.textContent.slice(0, 40)}`);
        if (["BUTTON", "A", "LABEL"].includes(e.tagName) && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflow !== "visible") bad.push(`clipped ${e.tagName} ${e.textContent.slice(0, 60)}`);
      }
      return bad.slice(0, 8);
    });
    console.log(name, over.length ? over : "");
    if (!dark && w > 500) console.log((await b.page.locator("body").innerText()).slice(0, 3000));
  }
  await b.close();
}
