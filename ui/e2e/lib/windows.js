// The windows of the desktop, for the tests that move them.
import { desktopOf, enterDesktop } from "./desktop.js";
import { untilHolds } from "./limits.js";

/** Calls the API of the computer as its desktop does. */
export async function desktopAPI(page, path, options) {
  const frame = await (await page.locator("iframe.desktop-frame").elementHandle()).contentFrame();
  return frame.evaluate(
    async ([path, options]) => {
      const [computer] = location.host.split(".");
      const answer = await fetch(`/api/computers/${computer}${path}`, options);
      const text = await answer.text();
      return { status: answer.status, body: text ? JSON.parse(text) : undefined };
    },
    [path, options],
  );
}

/** What lies on the desktop as the server knows it. */
export async function known(page) {
  return (await desktopAPI(page, "/desktop")).body;
}

/** Waits until the server knows something of the desktop, or says what it knows instead. */
export async function until(page, holds) {
  let state;
  const look = async () => {
    state = await known(page);
    return holds(state);
  };
  try {
    await untilHolds(page, look, "the server knows it");
  } catch (error) {
    throw new Error(`the server still knows this: ${JSON.stringify(state?.windows)}`, { cause: error });
  }
  return state;
}

/** Waits until the drafts that the server keeps are as said. */
export async function untilDrafts(page, holds) {
  let drafts;
  const look = async () => {
    drafts = (await desktopAPI(page, "/drafts")).body ?? [];
    return holds(drafts);
  };
  await untilHolds(page, look, () => `the server keeps the drafts, and not ${JSON.stringify(drafts)}`);
}

/**
 * Moves the pointer over a note that came above the desktop, until the note has it. The browser sends
 * a pointer to the process whose frame was last drawn at that place: for a moment that is the desktop.
 */
export async function hoverNote(button) {
  const look = async () => {
    await button.hover();
    return await button.evaluate((e) => e.matches(":hover"));
  };
  await untilHolds(button.page(), look, "the note has the pointer that is over it");
}

/** Opens a window through the server, as another browser or an agent would. */
export async function openWindow(page, app, subject = "", bounds = { x: 60, y: 40, width: 700, height: 460 }) {
  const { body } = await desktopAPI(page, "/windows", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ app, subject, bounds }),
  });
  const win = desktopOf(page).locator(`[data-window="${body.window.id}"]`);
  await win.waitFor();
  // What still grows has another size than it will have.
  await win.evaluate((element) => Promise.allSettled(element.getAnimations().map((a) => a.finished)));
  return { id: body.window.id, win };
}

/** Closes every window. */
export async function closeAll(page) {
  const { windows } = await known(page);
  for (const { id } of windows) await desktopAPI(page, `/windows/${id}/close`, { method: "POST" });
  await desktopOf(page).locator("[data-window]").first().waitFor({ state: "detached" });
}

/** Writes a file of the workspace. */
export function writeFile(page, path, content) {
  return desktopAPI(page, `/files/${path}`, { method: "PUT", headers: { "If-Match": "*" }, body: content });
}

/** Drags with the mouse in steps, from the middle of a handle, by so much or to a place. */
export async function drag(page, handle, { dx = 0, dy = 0, to, drop = true } = {}) {
  const box = await handle.boundingBox();
  const from = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const end = to ?? { x: from.x + dx, y: from.y + dy };
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (let i = 1; i <= 6; i++)
    await page.mouse.move(from.x + ((end.x - from.x) * i) / 6, from.y + ((end.y - from.y) * i) / 6);
  if (drop) await page.mouse.up();
}

export { desktopOf, enterDesktop };
