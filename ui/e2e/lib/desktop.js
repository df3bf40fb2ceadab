// The desktop, as it stands in the shell's frame, and its source.
import assert from "node:assert/strict";

/** The frame the shell has put the desktop into. */
export function desktopOf(page) {
  return page.frameLocator("iframe.desktop-frame");
}

/**
 * Opens the desktop in the shell and waits until its prompt can be typed into.
 * Gives the frame itself: it has locators, and runs functions inside.
 */
export async function enterDesktop(page) {
  const frame = page.locator("iframe.desktop-frame");
  // A page that is being loaded shows the desktop by itself; a link that is pressed meanwhile keeps the focus.
  if (new URL(page.url()).pathname === "/") await frame.waitFor({ timeout: 5_000 }).catch(() => undefined);
  if (!(await frame.isVisible())) await goToPage(page, "Desktop");
  await desktopOf(page).locator("#prompt").waitFor();
  return frameOf(page);
}

/** Follows the link to a page of the shell, which on a phone is in a menu. */
export async function goToPage(page, title) {
  const menu = page.getByRole("button", { name: "Pages", exact: true });
  const pages = page.getByRole("navigation", { name: "Pages of the top bar" });
  const link = pages.getByRole("link", { name: title });
  await menu.or(pages).first().waitFor();
  if (!(await link.isVisible())) {
    // A page that is just being made wider loses the menu, and shows the links.
    await menu.click({ timeout: 10_000 }).catch(async (e) => {
      if (!(await link.isVisible())) throw e;
    });
  }
  await link.click();
}

/** Waits until the desktop of a page shows something; an error says what the page shows instead. */
export async function appears(page, locator) {
  await locator.waitFor().catch(async (e) => {
    const frame = await desktopOf(page).locator("body").innerText().catch(String);
    throw new Error(`${e.message}\nthe page ${page.url()} shows ${JSON.stringify(frame.slice(0, 1500))}`);
  });
}

/** The frame with the desktop in it, whatever it shows. */
export async function frameOf(page) {
  return await (await page.locator("iframe.desktop-frame").elementHandle()).contentFrame();
}

/** Writes a file of the workspace, as the shell may. */
export async function write(page, path, content) {
  const status = await page.evaluate(
    async ([path, content]) => {
      const [computer] = await (await fetch("/api/computers")).json();
      const answer = await fetch(`/api/computers/${computer.id}/files/${path}`, {
        method: "PUT",
        headers: { "If-Match": "*" },
        body: content,
      });
      return answer.status;
    },
    [path, content],
  );
  assert.equal(status, 200, `${path} was not written`);
}

/** Reads a file of the workspace. */
export function read(page, path) {
  return page.evaluate(async (path) => {
    const [computer] = await (await fetch("/api/computers")).json();
    return await (await fetch(`/api/computers/${computer.id}/files/${path}`)).text();
  }, path);
}
