import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The built shell is embedded into the choir binary by internal/webui.
export default defineConfig({
  // base is a link: its files get their packages and their JSX from here.
  resolve: { preserveSymlinks: true },
  plugins: [react({ jsxImportSource: "#shown" })],
  build: { outDir: "../../internal/webui/dist/shell", emptyOutDir: true, assetsInlineLimit: 0 },
  test: { environment: "node", include: ["src/**/*.test.ts"] },
});
