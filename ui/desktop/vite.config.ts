import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The built desktop is embedded into the choir binary by internal/webui.
export default defineConfig({
  // base is a link: its files get their packages from here, and are tested here.
  resolve: { preserveSymlinks: true },
  plugins: [react()],
  build: { outDir: "../../internal/webui/dist/desktop", emptyOutDir: true, assetsInlineLimit: 0 },
  test: { environment: "node", include: ["src/**/*.test.ts", "base/**/*.test.ts"] },
});
