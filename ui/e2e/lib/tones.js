// How light the pixels are that a page really draws.
import { PNG } from "pngjs";

/** How light pixels are, from 0 to 255: each is given by an element and how far it is from its top left corner. */
export async function tonesOf(page, places) {
  const picture = PNG.sync.read(await page.screenshot({ animations: "disabled" }));
  const tones = [];
  for (const [locator, x, y] of places) {
    const box = await locator.boundingBox();
    const at = (Math.round(box.y + y) * picture.width + Math.round(box.x + x)) * 4;
    tones.push(Math.max(...picture.data.subarray(at, at + 3)));
  }
  return tones;
}
