// A choir, a browser and, where wanted, a scripted model, for one test file.
import { existsSync } from "node:fs";
import { after, before } from "node:test";
import { noBrowser, openBrowser, PATIENCE_MS } from "./browser.js";
import { binary, startChoir } from "./choir.js";
import { showPagesOfFailures } from "./failure.js";
import { untilHolds } from "./limits.js";
import { startModel } from "./model.js";

/** Why the tests cannot run here, or false. */
export const skip = noBrowser || (existsSync(binary) ? false : `${binary} is not built: make build`);

/**
 * Starts what a file's tests share, logged in, and ends it after them. They
 * begin in Runs, or with the desktop.
 * @param {{ model?: boolean, config?: string, browser?: object, desktop?: boolean }} [wants]
 */
export function rig({ model = false, config = "", browser = {}, desktop = false } = {}) {
  const it = {};
  if (skip) return it;
  before(async () => {
    if (model) it.model = await startModel();
    it.choir = await startChoir(`${config}${it.model?.config ?? ""}`);
    Object.assign(it, await openBrowser(browser));
    it.page.setDefaultTimeout(PATIENCE_MS);
    let began = performance.now();
    await it.page.goto(it.choir.login);
    const prompt = (desktop ? it.page.frameLocator("iframe.desktop-frame") : it.page).locator("#prompt");
    if (!desktop) {
      await it.page.waitForSelector("iframe.desktop-frame");
      began = performance.now();
      await it.page.goto(`${it.choir.address}/runs`);
    }
    await prompt.waitFor();
    it.promptMs = performance.now() - began;
  });
  showPagesOfFailures(it);
  after(async () => {
    // Whatever started is ended, whatever failed.
    const ends = [() => it.close?.(), () => it.choir?.stop(), () => it.model?.stop()];
    for (const end of ends) await end();
  });
  return it;
}

/** Writes a prompt and sends it; gives the run's id once its page is shown. */
export async function ask(page, text) {
  const before = page.url();
  await page.fill("#prompt", text);
  await page.press("#prompt", "Enter");
  await page.waitForURL((url) => url.pathname.startsWith("/runs/") && url.href !== before);
  return new URL(page.url()).pathname.slice("/runs/".length);
}

/** Waits until a run is in a state; gives the run. */
export async function runIs(page, id, state) {
  let run;
  const holds = async () => {
    run = (await api(page, `/runs/${id}`)).body;
    return run.state === state;
  };
  await untilHolds(page, holds, `the run is ${state}`, 2 * PATIENCE_MS);
  return run;
}

/**
 * Closes the messages of a finished run. They are there by the time its signature is said to be
 * verified; on a slow machine they have gone away by themselves by then.
 */
export async function closeMessages(page) {
  const messages = page.locator("[data-sonner-toast]");
  for (const message of await messages.all()) {
    const close = message.getByRole("button", { name: "Close toast" });
    await close.click({ timeout: 3_000 }).catch(() => {}); // it went away by itself meanwhile
  }
  await messages.first().waitFor({ state: "detached" });
}

/** Calls the API as the page does, with its cookie. */
export function api(page, path, options) {
  return page.evaluate(
    async ([path, options]) => {
      const [computer] = await (await fetch("/api/computers")).json();
      const answer = await fetch(`/api/computers/${computer.id}${path}`, options);
      return { status: answer.status, body: await answer.json() };
    },
    [path, options],
  );
}
