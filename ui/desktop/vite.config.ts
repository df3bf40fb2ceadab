import { readdirSync, readFileSync } from "node:fs";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

// The first releases with light-dark(): for older targets Vite writes it as a media query of
// the system's preference, and then no theme that is light or dark by itself has an effect.
const cssTarget = ["chrome123", "firefox120", "safari17.5"];

// The built desktop is embedded into the choir binary by internal/webui.
export default defineConfig({
  // base is a link: its files get their packages from here, and are tested here.
  resolve: { preserveSymlinks: true },
  plugins: [react(), besidePDF()],
  build: {
    outDir: "../../internal/webui/dist/desktop",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    cssTarget,
  },
  test: { environment: "node", testTimeout: 30_000, include: ["src/**/*.test.ts", "base/**/*.test.ts"] },
});

/**
 * Copies what pdf.js asks for by name while it reads some files: maps of characters, the
 * standard fonts, and decoders of pictures without WebAssembly. A desktop whose source was
 * changed gets them from internal/desktop/dev/dev.mjs.
 */
function besidePDF(): Plugin {
  const from = new URL("node_modules/pdfjs-dist/", import.meta.url);
  const needed = { cmaps: /\.bcmap$/, standard_fonts: /\.(pfb|ttf)$/, wasm: /_nowasm_fallback\.js$/ };
  return {
    name: "choir-pdf",
    apply: "build",
    generateBundle() {
      const { version } = JSON.parse(readFileSync(new URL("package.json", from), "utf8"));
      for (const [folder, fits] of Object.entries(needed)) {
        for (const name of readdirSync(new URL(folder, from)).filter((name) => fits.test(name))) {
          const source = readFileSync(new URL(`${folder}/${name}`, from));
          this.emitFile({ type: "asset", fileName: `assets/pdfjs-${version}/${folder}/${name}`, source });
        }
      }
    },
  };
}
