// The desktop, as it stands in the shell's frame.

/** The frame the shell has put the desktop into. */
export function desktopOf(page) {
  return page.frameLocator("iframe.desktop-frame");
}

/**
 * Opens the desktop in the shell and waits until its prompt can be typed into.
 * Gives the frame itself: it has locators, and runs functions inside.
 */
export async function enterDesktop(page) {
  if (!(await page.locator("iframe.desktop-frame").isVisible())) {
    await page.getByRole("navigation", { name: "Pages of the shell" }).getByRole("link", { name: "Desktop" }).click();
  }
  await desktopOf(page).locator("#prompt").waitFor();
  return await (await page.locator("iframe.desktop-frame").elementHandle()).contentFrame();
}
