import assert from "node:assert/strict";
import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { compare, draw, kept, packed, pathOf, readPicture, SHARE, wanted } from "../lib/pictures.js";
import { differs, drawer, keptDrawer } from "../lib/probe.js";
import { skip } from "../lib/rig.js";
import { openStudio } from "../lib/scenes.js";

/** Where pictures that differ are left, beside how they differ. */
const seenIn = fileURLToPath(new URL("../../../.cache/pictures/", import.meta.url));

/** All pictures together, in bytes: they are in the repository for ever. */
const ROOM = 3_000_000;

// All that is waited for comes before the first test: the runner ends once those
// that it knows have ended.
const pictures = await wanted();
const reason = skip || differs(await drawer(), await keptDrawer());

test("every picture is of a scene, every scene has its pictures, and they are small", async () => {
  assert.deepEqual((await kept()).sort(), pictures.map((p) => p.name).sort(), "make pictures");
  const sizes = await Promise.all(pictures.map(async ({ name }) => (await stat(pathOf(name))).size));
  const sum = sizes.reduce((a, b) => a + b, 0);
  assert.ok(sum <= ROOM, `${sum} bytes of pictures, at most ${ROOM}`);
});

test("0.2 % of other pixels are too many, 0.05 % are not, wherever they are", async () => {
  const [{ name }] = pictures;
  const picture = await readPicture(name);
  for (const [share, passes] of [
    [0, true],
    [0.0005, true],
    [0.002, false],
  ]) {
    const other = await readPicture(name);
    const pixels = other.width * other.height;
    const changed = Math.round(pixels * share);
    for (let n = 0; n < changed; n++) other.data[Math.floor((n * pixels) / changed) * 4] ^= 0x40;
    const found = compare(other, picture);
    assert.equal(Math.round(found.share * pixels), changed);
    assert.equal(found.share <= SHARE, passes, `${share} of the pixels`);
  }
  const taller = { ...picture, height: picture.height + 1 };
  assert.equal(compare(taller, picture).share, 1);
});

test("another Chromium is a reason not to compare, another font of the product is none", () => {
  const kept = { chromium: "Chrome/1.0", fonts: "a", probe: "b" };
  assert.equal(differs(kept, kept), false);
  assert.equal(differs({ ...kept, chromium: "Chrome/2.0" }, kept), false, "it draws the same");
  assert.match(
    differs({ ...kept, chromium: "Chrome/2.0", probe: "c" }, kept),
    /Chrome\/2\.0.*Chrome\/1\.0.*make pictures/,
  );
  assert.equal(differs({ ...kept, fonts: "d", probe: "c" }, kept), false);
});

describe("what is seen is what is in ui/e2e/pictures", { skip: reason }, () => {
  let studio;
  before(async () => {
    await rm(seenIn, { recursive: true, force: true });
    studio = await openStudio();
  });
  after(() => studio?.close());

  for (const { name, size, scene, dark } of pictures) {
    test(name, async () => {
      const [picture, page] = await Promise.all([readPicture(name), studio.show(size, scene, dark)]);
      const drawn = await draw(page, picture);
      if (drawn.share > SHARE) assert.fail(await told(name, drawn));
    });
  }
});

/** Leaves what was seen where it can be looked at; says by how much it differs. */
async function told(name, { share, seen, difference }) {
  await mkdir(seenIn, { recursive: true });
  const is = `${seenIn}${name}.png`;
  await writeFile(is, packed(seen));
  const where = `${seenIn}${name}.difference.png`;
  if (difference) await writeFile(where, packed(difference));
  return `${name}: ${(share * 100).toFixed(2)} % of the pixels differ, at most ${SHARE * 100} %; seen: ${is}${difference ? `, difference: ${where}` : ""}. When the look changed on purpose: make pictures`;
}
