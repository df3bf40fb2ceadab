// A real Chromium with a profile of its own, and what a page complained about.
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { PATIENCE_MS } from "./limits.js";

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

/**
 * Chromium's engine without the browser around it: it starts in a third of the time and takes a tenth
 * of the CPU time until a page is shown.
 */
const shellPath = ["/usr/bin/chromium-headless-shell"].find(existsSync) ?? executablePath;

/** Why no browser test can run here, or false. */
export const noBrowser = executablePath ? false : "no Chromium in /usr/bin: apt-get install chromium";

export { PATIENCE_MS };

const args = [
  "--no-sandbox",
  "--headless",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Opens a browser with one page. Tests of what a browser keeps apart, of times and of pictures ask for
 * a stock one, as people have it.
 * @param {{ stock?: boolean, width?: number, height?: number, touch?: boolean, dark?: boolean, scale?: number, bypassCSP?: boolean, locale?: string, flags?: string[] }} [wants]
 */
export async function openBrowser(wants = {}) {
  const {
    stock = false,
    width = 1440,
    height = 900,
    touch = false,
    dark = false,
    scale = 1,
    bypassCSP = false,
    locale,
    flags = [],
  } = wants;
  const profile = await mkdtemp(join(tmpdir(), "choir-profile-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: stock ? executablePath : shellPath,
    // As the browser around the engine does: a page of another site gets a process of its own.
    args: [...args, "--site-per-process", ...flags],
    chromiumSandbox: false,
    viewport: { width, height },
    hasTouch: touch,
    isMobile: touch,
    deviceScaleFactor: scale,
    colorScheme: dark ? "dark" : "light",
    bypassCSP,
    ...(locale ? { locale } : {}),
  });
  const page = context.pages()[0] ?? (await context.newPage());
  const complaints = [];
  // The address tells which request failed: the browser's own sentence does not name it.
  page.on("console", (m) => m.type() === "error" && complaints.push(`${m.text()} [${m.location().url}]`));
  page.on("pageerror", (e) => complaints.push(String(e)));
  return {
    context,
    page,
    complaints,
    async close() {
      await context.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}
