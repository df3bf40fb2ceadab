// Drives a browser for `choir bench desktop deliver`: a JSON object a line says
// what to do, and one answers it. It ends with its input.
import { createInterface } from "node:readline";
import { buildBare } from "./lib/bare.js";
import { noBrowser, openBrowser, PATIENCE_MS } from "./lib/browser.js";
import { measureScript } from "./lib/budget.js";
import { desktopOf, frameOf } from "./lib/desktop.js";
import { coverDesk, dragOver, measureBarePaint, measureFirstKey, measurePaint } from "./lib/paint.js";
import { tellSights } from "./lib/sights.js";

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

/** The page of `open`, and the window in it that is dragged. */
let opened;
let dragged;

const verbs = {
  async paint({ url }) {
    return { value: await measurePaint(url) };
  },
  async barePaint({ url }) {
    return { value: await measureBarePaint(url) };
  },
  async key({ url }) {
    return { value: await measureFirstKey(url) };
  },
  async bare({ folder }) {
    await buildBare(folder);
    return {};
  },
  async script({ url }) {
    return { value: (await measureScript({ login: url })) / 1000 };
  },
  async open({ url, wire, stream }) {
    await opened?.close();
    // The page's policies do not let it speak to another server.
    opened = await openBrowser({ stock: true, bypassCSP: true, flags: ["--disable-features=ConnectionAllowlists"] });
    const { page } = opened;
    page.setDefaultTimeout(PATIENCE_MS);
    await page.addInitScript(tellSights, { wire, stream });
    await page.goto(url);
    await desktopOf(page).locator("#prompt").waitFor();
    await (await frameOf(page)).waitForFunction(
      (streams) => globalThis.benchRaw && globalThis.benchBus && (globalThis.benchStream || !streams),
      stream !== undefined,
    );
    return {};
  },
  async cover() {
    dragged = await coverDesk(opened.page);
    return {};
  },
  async drag() {
    const { longest, long } = await dragOver(opened.page, dragged);
    return { value: longest, long };
  },
  /** Waits until the page comes from the bundle, and the shell has looked at what it comes from. */
  async shipped() {
    await untilServed(() => [...document.scripts].some((s) => s.src.includes("/assets/")));
    await opened.page.waitForResponse((response) => response.url().endsWith("/desktop/source"));
    return {};
  },
  /** Waits until the page comes from the source, with the probe in it. */
  live: () => untilServed(() => document.querySelector("#bench-probe") !== null),
};

/** Waits for something of the page in the frame, which may be loaded anew meanwhile. */
async function untilServed(holds) {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      const frame = await frameOf(opened.page);
      await frame.waitForFunction(holds, undefined, { timeout: end - performance.now() });
      await frame.waitForFunction(() => globalThis.benchRaw && document.querySelector("#prompt"));
      return {};
    } catch (error) {
      if (performance.now() > end) throw error;
    }
  }
}

say(noBrowser ? { missing: noBrowser } : {});
for await (const line of createInterface({ input: process.stdin })) {
  const { do: verb, ...wants } = JSON.parse(line);
  try {
    say(await verbs[verb](wants));
  } catch (error) {
    say({ error: String(error.message ?? error) });
  }
}
await opened?.close();
