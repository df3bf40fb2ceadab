// Pictures of pages that are the same on every run, and how far two of them differ.
import { readdir, readFile, writeFile } from "node:fs/promises";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import { PATIENCE_MS } from "./browser.js";
import { scenes, sizes } from "./scenes.js";

/** The share of the pixels that may differ. */
export const SHARE = 0.001;

/** Colours are drawn in steps of so much: the noise of gradients would be most of a picture's bytes. */
const STEP = 4;
const coarse = Uint8Array.from({ length: 256 }, (_, value) => Math.min(255, Math.round(value / STEP) * STEP));

/** How far apart two colours may be to count as one, of 1: little more than a step. */
const THRESHOLD = 0.02;

/** A page that looked the same for so long is drawn, in milliseconds. */
const STILL_MS = 2_000;

/** Where the pictures are kept. */
export const folder = new URL("../pictures/", import.meta.url);

/** The pictures there are to be: each is a scene at a size, light or dark. */
export async function wanted() {
  const all = [];
  for (const size of sizes) {
    for (const scene of await scenes(size)) {
      const name = `${scene.name}-${size.name}`;
      all.push({ name: `${name}-light`, size, scene, dark: false });
      if (scene.name === "desktop") all.push({ name: `${name}-dark`, size, scene, dark: true });
    }
  }
  return all;
}

/** Where the picture of a name is kept. */
export const pathOf = (name) => new URL(`${name}.png`, folder);

/** The names of the pictures that are kept. */
export async function kept() {
  return (await readdir(folder)).filter((f) => f.endsWith(".png")).map((f) => f.slice(0, -4));
}

/** Reads the picture that is kept under a name. */
export async function readPicture(name) {
  return PNG.sync.read(await readFile(pathOf(name)));
}

/** Keeps a picture under a name; says how large it is. */
export async function keepPicture(name, picture) {
  const bytes = packed(picture);
  await writeFile(pathOf(name), bytes);
  return `has ${bytes.length} bytes`;
}

/** A picture as the bytes of a file. */
export const packed = (picture) =>
  PNG.sync.write(picture, { colorType: 2, deflateLevel: 9, deflateStrategy: 0, filterType: 0 });

/** How far two pictures differ: the share of the pixels, and a picture that shows which. */
export function compare(seen, kept) {
  const { width, height } = kept;
  if (seen.width !== width || seen.height !== height) return { share: 1 };
  const difference = new PNG({ width, height });
  const pixels = pixelmatch(seen.data, kept.data, difference.data, width, height, {
    threshold: THRESHOLD,
    includeAA: true,
  });
  return { share: pixels / (width * height), difference };
}

/**
 * A picture of what a page shows, once it is like the one that is kept, or does
 * not change any more; and how far it differs from that one.
 */
export async function draw(page, kept) {
  const end = performance.now() + PATIENCE_MS;
  let last;
  let since;
  for (;;) {
    const seen = await shoot(page);
    const found = kept ? compare(seen, kept) : { share: 1 };
    const now = performance.now();
    if (!last?.data.equals(seen.data)) {
      last = seen;
      since = now;
    }
    if (found.share <= SHARE || now - since > STILL_MS || now > end) return { seen, ...found };
  }
}

/** Waits until nothing that a page shows is still loaded. */
export async function settled(page) {
  for (const frame of page.frames()) {
    await frame.waitForLoadState();
    await frame.evaluate(loaded);
  }
}

/** Takes a picture of a settled page, with what differs from run to run made the same. */
export async function shoot(page) {
  await settled(page);
  for (const frame of page.frames()) await frame.evaluate(fix, words);
  const picture = PNG.sync.read(await page.screenshot({ animations: "disabled" }));
  for (let i = 0; i < picture.data.length; i++) picture.data[i] = coarse[picture.data[i]];
  return picture;
}

/** Runs in a frame: waits for what is still loaded. */
async function loaded() {
  await document.fonts.ready;
  await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
  while (document.querySelector("[data-state=loading], [aria-busy=true]")) {
    await new Promise(requestAnimationFrame);
  }
}

/** What differs from run to run, and the words it has in pictures. */
const words = {
  ".tray-clock b": "09:41 AM",
  ".tray-clock span": "Tue, Mar 3",
  "time:not(.tray-clock)": "1 min ago",
  ".trace-took": "12 ms",
  ".chosen-facts span:nth-child(1)": "09:41:00",
  ".chosen-facts span:nth-child(2)": "9 files, 950 B",
  // How many there are depends on the seconds between the marks.
  ".band-label:not(.band-now)": "",
  // A column more or less, from opening to opening.
  ".terminal-shell .app-status span:nth-child(2)": "80 × 24",
  ".timeline-then dd:first-of-type": "9 files, 950 B",
};

/** Runs in a frame: puts words in the place of what differs from run to run. */
function fix(words) {
  for (const [selector, text] of Object.entries(words)) {
    for (const element of document.querySelectorAll(selector)) {
      // The texts themselves stay, because React goes on writing into them.
      const nodes = [...element.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE);
      for (const [i, node] of nodes.entries()) node.nodeValue = i === 0 ? text : "";
    }
  }
  for (const band of document.querySelectorAll(".trace-band i")) {
    Object.assign(band.style, { insetInlineStart: "10%", width: "30%" });
  }
  const totals = document.querySelector(".trace > .app-status")?.firstChild;
  if (totals) totals.nodeValue = totals.nodeValue.replace(/^[^·]*· [\d,]+/, "12 ms · 11,000");
}
