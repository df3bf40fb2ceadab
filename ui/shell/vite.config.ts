import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The built shell is embedded into the choir binary by internal/webui.
export default defineConfig({
  plugins: [react({ jsxImportSource: "#shown" })],
  build: { outDir: "../../internal/webui/dist/shell", emptyOutDir: true, assetsInlineLimit: 0 },
  test: { environment: "node", include: ["src/**/*.test.ts"] },
});
