import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "../lib/inspect.js";
import { closeMessages, rig, skip } from "../lib/rig.js";

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
      await page.locator(".run-bar").getByText("Signature verified").waitFor();
      await page.locator(".markdown h1").waitFor();
      // The page as it is once nothing pops up any more.
      await closeMessages(page);
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
