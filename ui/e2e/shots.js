// Takes a picture of every app, at three sizes, in light and dark: node shots.js FOLDER
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { settled } from "./lib/pictures.js";
import { openStudio, scenes, sizes } from "./lib/scenes.js";

const folder = process.argv[2] ?? "shots";

await mkdir(folder, { recursive: true });
const studio = await openStudio();
try {
  for (const size of sizes) {
    for (const dark of [false, true]) {
      for (const scene of await scenes(size)) {
        const page = await studio.show(size, scene, dark);
        await settled(page);
        const name = `${scene.name}-${size.name}-${dark ? "dark" : "light"}.png`;
        await page.screenshot({ path: join(folder, name), animations: "disabled" });
        console.log(name);
      }
    }
  }
} finally {
  await studio.close();
}
