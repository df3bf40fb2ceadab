// The bare page with React that the desktop's first paint and first key are measured beside.
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../bare", import.meta.url));
const desktop = createRequire(new URL("../../desktop/package.json", import.meta.url));

/** Builds the page into a folder, with the desktop's own Vite and React. */
export async function buildBare(folder) {
  const { build } = await import(pathToFileURL(desktop.resolve("vite")).href);
  const alias = ["react-dom/client", "react"].map((find) => ({ find, replacement: desktop.resolve(find) }));
  await build({ root, configFile: false, logLevel: "error", resolve: { alias }, build: { outDir: folder } });
}
