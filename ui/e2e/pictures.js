// Draws anew what tests/pictures.test.js compares with: node pictures.js
import { mkdir, rm } from "node:fs/promises";
import { draw, folder, keepPicture, wanted } from "./lib/pictures.js";
import { drawer, keepDrawer } from "./lib/probe.js";
import { openStudio } from "./lib/scenes.js";

const pictures = await wanted();
const studio = await openStudio();
let sum = 0;
try {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for (const { name, size, scene, dark } of pictures) {
    const { seen } = await draw(await studio.show(size, scene, dark));
    const bytes = await keepPicture(name, seen);
    sum += bytes;
    console.log(`${name}.png ${bytes}`);
  }
  await keepDrawer(await drawer());
} finally {
  await studio.close();
}
console.log(`${pictures.length} pictures, ${sum} bytes`);
