// Draws anew what tests/pictures.test.js compares with: node pictures.js
import { mkdir, rm } from "node:fs/promises";
import { draw, folder, keepPicture, wanted } from "./lib/pictures.js";
import { drawer, keepDrawer } from "./lib/probe.js";
import { openStudio, sizes } from "./lib/scenes.js";

const pictures = await wanted();
const studio = await openStudio();
let sum = 0;
try {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for (const size of sizes) {
    const { page, close } = await studio.visit(size);
    for (const { name, scene, dark } of pictures.filter((p) => p.size === size)) {
      await studio.show(page, scene, dark);
      const { seen } = await draw(page);
      const bytes = await keepPicture(name, seen);
      sum += bytes;
      console.log(`${name}.png ${bytes}`);
    }
    await close();
  }
  await keepDrawer(await drawer());
} finally {
  await studio.close();
}
console.log(`${pictures.length} pictures, ${sum} bytes`);
