import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

// The first releases with light-dark(): for older targets Vite writes it as a media query of
// the system's preference, and then no theme that is light or dark by itself has an effect.
const cssTarget = ["chrome123", "firefox120", "safari17.5"];

// The built shell is embedded into the choir binary by internal/webui.
export default defineConfig({
  // base is a link: its files get their packages and their JSX from here.
  resolve: { preserveSymlinks: true },
  plugins: [react({ jsxImportSource: "#shown" }), preloadPage()],
  build: {
    outDir: "../../internal/webui/dist/shell",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    cssTarget,
    // Symbols that several later parts share would each be a file.
    rolldownOptions: {
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: "symbols", test: /icons\/(check|circle-check|file-text|history|key-round|sparkles|x)\.(m?js)$/ },
          ],
        },
      },
    },
  },
  test: { environment: "node", testTimeout: 30_000, include: ["src/**/*.test.ts"] },
});

/**
 * Lets the browser fetch what main.tsx imports later, the page itself with its styles, as
 * early as main.tsx: its name is known only once it is built.
 */
function preloadPage(): Plugin {
  return {
    name: "choir-preload-page",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle }) {
        const chunks = Object.values(bundle ?? {}).flatMap((c) => (c.type === "chunk" ? [c] : []));
        const page = chunks.find((c) => c.facadeModuleId?.endsWith("/src/page.tsx"));
        if (!page) throw new Error("the build has no chunk of src/page.tsx");
        const entry = chunks.find((c) => c.isEntry);
        const later = [page.fileName, ...page.imports].filter((name) => !entry?.imports.includes(name));
        const link = (attrs: Record<string, string | true>) =>
          ({ tag: "link", injectTo: "head", attrs: { crossorigin: true, ...attrs } }) as const;
        const tags = [
          ...later.map((name) => link({ rel: "modulepreload", href: `/${name}` })),
          ...[...(page.viteMetadata?.importedCss ?? [])].map((name) => link({ rel: "stylesheet", href: `/${name}` })),
        ];
        // Its requests wait neither for the rest of the document nor for styles.
        return { html: html.replace('<script type="module"', '<script type="module" async'), tags };
      },
    },
  };
}
