// Draws anew what tests/pictures.test.js compares with, where it is different: node pictures.js
import { mkdir, rm } from "node:fs/promises";
import { compare, draw, folder, keepPicture, kept, pathOf, readPicture, wanted } from "./lib/pictures.js";
import { drawer, keepDrawer } from "./lib/probe.js";
import { openStudio } from "./lib/scenes.js";

const pictures = await wanted();
await mkdir(folder, { recursive: true });
const old = new Set(await kept());
const studio = await openStudio();
try {
  for (const { name, size, scene, dark } of pictures) {
    const { seen } = await draw(await studio.show(size, scene, dark));
    const same = old.delete(name) && compare(seen, await readPicture(name)).share === 0;
    console.log(`${name}.png ${same ? "is the same" : await keepPicture(name, seen)}`);
  }
  for (const name of old) await rm(pathOf(name));
  await keepDrawer(await drawer());
} finally {
  await studio.close();
}
