// Takes a picture of every app, at three sizes, in light and dark: node shots.js FOLDER
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { openBrowser } from "./lib/browser.js";
import { startChoir } from "./lib/choir.js";
import { appNames, arrange, desktopOf, furnish, playDemo, statesOf } from "./lib/states.js";
import { closeAll, openWindow } from "./lib/windows.js";

const folder = process.argv[2] ?? "shots";
const sizes = [
  { name: "390x844", width: 390, height: 844, touch: true },
  { name: "768x1024", width: 768, height: 1024, touch: true },
  { name: "1440x900", width: 1440, height: 900 },
];
/** Where the window of an app lies on a wide screen. */
const bounds = { x: 170, y: 40, width: 1100, height: 660 };

await mkdir(folder, { recursive: true });
const choir = await startChoir();
const take = async (page, name) => {
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" });
  console.log(`${name}.png`);
};
let run;
try {
  for (const size of sizes) {
    for (const dark of [false, true]) {
      const { page, close } = await openBrowser({ ...size, dark });
      try {
        page.setDefaultTimeout(60_000);
        await page.goto(run ? await choir.link() : choir.login);
        await desktopOf(page).locator("#prompt").waitFor();
        // A note of the shell's takes half of a phone, and is the same in every picture.
        await page.getByRole("button", { name: "Hide this" }).click();
        const suffix = `${size.name}-${dark ? "dark" : "light"}`;
        await take(page, `desktop-${suffix}`);
        if (!run) {
          await furnish(page);
          run = await playDemo(page);
        }
        // What the run said has faded.
        await desktopOf(page).locator(".progress-line").first().waitFor({ state: "detached" });
        for (const app of await appNames()) {
          const state = (await statesOf(app)).findLast((s) => s.network === "answers" && s.name !== "empty");
          if (!state) continue;
          await arrange(page, app, state, run, bounds);
          await take(page, `${app}-${suffix}`);
          await closeAll(page);
        }
        await openWindow(page, "viewer", "workspace/states/table.csv", { x: 60, y: 40, width: 520, height: 320 });
        await openWindow(page, "files", "workspace/", { x: 120, y: 330, width: 640, height: 360 });
        const { win } = await openWindow(page, "code", "workspace/states/main.go", {
          x: 660,
          y: 90,
          width: 700,
          height: 480,
        });
        await win.locator(".cm-content").waitFor();
        await take(page, `windows-${suffix}`);
        await closeAll(page);
      } finally {
        await close();
      }
    }
  }
} finally {
  await choir.stop();
}
