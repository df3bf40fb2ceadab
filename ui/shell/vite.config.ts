import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The first releases with light-dark(): for older targets Vite writes it as a media query of
// the system's preference, and then no theme that is light or dark by itself has an effect.
const cssTarget = ["chrome123", "firefox120", "safari17.5"];

// The built shell is embedded into the choir binary by internal/webui.
export default defineConfig({
  // base is a link: its files get their packages and their JSX from here.
  resolve: { preserveSymlinks: true },
  plugins: [react({ jsxImportSource: "#shown" })],
  build: { outDir: "../../internal/webui/dist/shell", emptyOutDir: true, assetsInlineLimit: 0, cssTarget },
  test: { environment: "node", include: ["src/**/*.test.ts"] },
});
