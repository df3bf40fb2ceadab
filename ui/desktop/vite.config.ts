import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The built desktop is embedded into the choir binary by internal/webui.
export default defineConfig({
  plugins: [react()],
  build: { outDir: "../../internal/webui/dist/desktop", emptyOutDir: true, assetsInlineLimit: 0 },
  test: { environment: "node", include: ["src/**/*.test.ts"] },
});
