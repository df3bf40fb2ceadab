// Runs Vite on a desktop's source, with the packages of one read-only folder:
//   node dev.mjs serve ROOT MODULES        inside a sandbox; says on stdout how it goes, a JSON object a line
//   node dev.mjs seed ROOT MODULES OUT     at build time; bundles what the source imports once and for all
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { movedFiles } from "./moved.mjs";

const [verb, root, modules, out] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(modules, path)).href);
const [vite, { default: react }] = await Promise.all([
  load("vite/dist/node/index.js"),
  load("@vitejs/plugin-react/dist/index.js"),
]);

const common = { configFile: false, root, plugins: [react(), movedFiles(root), besidePDF(), ordered()], logLevel: "error", clearScreen: false };
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

await (verb === "seed" ? seed() : serve());

/** Serves what pdf.js asks for by name while it reads some files, where ui/desktop/vite.config.ts puts it in a build. */
function besidePDF() {
  const asked = /^\/assets\/pdfjs-[\d.]+\/((?:cmaps|standard_fonts|wasm)\/[\w-]+\.(\w+))$/;
  return {
    name: "choir-pdf",
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const [, path, ending] = asked.exec(request.url) ?? [];
        if (!path) return next();
        readFile(join(modules, "pdfjs-dist", path)).then((content) => {
          response.setHeader("Content-Type", ending === "js" ? "text/javascript" : "application/octet-stream");
          response.end(content);
        }, next);
      });
    },
  };
}

/**
 * Draws updates that follow each other at once in their order. As Vite writes a module of components, it imports
 * itself, by the time of the file's newest change: when that is newer than the one the page asked for, the page runs
 * the newest code first and what it asked for after it, and shows that. Here a module imports itself by the address it
 * came from, and an update waits until the one before it has. Throws an error when Vite writes modules in another way.
 */
function ordered() {
  const swap = (code, from, to) => {
    if (!from.test(code)) throw new Error(`dev.mjs does not know this version of Vite: ${from} is missing`);
    return code.replace(from, to);
  };
  return {
    name: "choir-ordered",
    enforce: "post",
    transform(code, id) {
      if (id === "/@react-refresh") return { code: swap(code, /^export const __hmr_import = .*$/m, selfImport), map: null };
      if (!code.includes("RefreshRuntime.validateRefreshBoundaryAndEnqueueUpdate(")) return null;
      const alone = swap(code, /^import \* as __vite_react_currentExports from .*$/m, "");
      const late = /const currentExports = __vite_react_currentExports;\s+queueMicrotask\(\(\) => \{/;
      return { code: swap(alone, late, "RefreshRuntime.__hmr_import(import.meta.url).then((currentExports) => {"), map: null };
    },
  };
}

/** How a page lets a module import itself: what the module does then is done before the next update begins. */
const selfImport = `const open = new Set();
export const __hmr_import = (module) => {
  const imported = import(/* @vite-ignore */ module);
  const settled = imported.then(() => {}, () => {}).then(() => open.delete(settled));
  open.add(settled);
  return imported;
};
import.meta.hot.on("vite:beforeUpdate", () => Promise.all(open));
`;

/** Bundles every package that the source imports, as the server would at its start. */
async function seed() {
  const include = [...new Set([...(await imported("src")), ...(await imported("base"))])].sort();
  // In the repository base is a link, and its packages are those of the folder that it lies in.
  const config = { ...common, cacheDir: out, resolve: { preserveSymlinks: true }, optimizeDeps: { include, noDiscovery: true } };
  await vite.optimizeDeps(await vite.resolveConfig(config, "serve"), true);
}

/** The packages that files below a folder of the source import by name. */
async function imported(folder) {
  const names = new Set(["react", "react/jsx-dev-runtime", "react-dom", "react-dom/client"]);
  const found = /(?:\bfrom|\bimport\()\s*"([^"./#][^"]*)"/g;
  for (const name of await readdir(join(root, folder), { recursive: true })) {
    if (!/\.tsx?$/.test(name) || /\.test\.tsx?$/.test(name)) continue;
    const source = await readFile(join(root, folder, name), "utf8");
    for (const [, wanted] of source.matchAll(found)) if (!/\.css$|\?/.test(wanted)) names.add(wanted);
  }
  return [...names];
}

async function serve() {
  const cacheDir = await mkdtemp(join(tmpdir(), "choir-desktop-"));
  const server = await vite.createServer({
    ...common,
    cacheDir,
    plugins: [...common.plugins, { name: "choir-seed", configureServer: (server) => plant(server, cacheDir) }],
    // The gateway in front of it answers known hosts only, of whatever domain.
    server: { host: "127.0.0.1", port: 0, allowedHosts: true, fs: { allow: [root, modules, cacheDir] } },
  });
  report(server.environments.client.hot);
  lookAgain(server.watcher);
  await server.listen();
  say({ port: server.httpServer.address().port });
}

/**
 * When to look again after a change, in milliseconds: Vite's watcher lets further changes of
 * the same file fall for 50 ms, and hears of none while it moves from a replaced file to the
 * new one, which takes longer on a busy machine.
 */
const AGAIN_MS = [100, 300, 1_000, 3_000];

/** Tells of changes that the watcher let fall, because they came right after another of the same file. */
function lookAgain(watcher) {
  const looks = new Map();
  watcher.on("change", (path) => {
    const told = identity(path);
    clearTimeout(looks.get(path));
    const wait = (turn) => looks.set(path, setTimeout(() => look(turn), AGAIN_MS[turn]));
    const look = (turn) => {
      const now = identity(path);
      if (now && now !== told) watcher.emit("change", path);
      else if (turn + 1 < AGAIN_MS.length) wait(turn + 1);
      else looks.delete(path);
    };
    wait(0);
  });
}

/** Changes with every change of a file, and is empty for none. */
function identity(path) {
  const st = statSync(path, { bigint: true, throwIfNoEntry: false });
  return st ? `${st.ino} ${st.ctimeNs} ${st.size}` : "";
}

/**
 * Puts the bundles of build time where the server looks for its own. They are
 * good for this source as long as it has no packages of its own; what they lack
 * the server bundles itself.
 */
async function plant(server, cacheDir) {
  if ((await readdir(root)).includes("node_modules")) return;
  const deps = join(cacheDir, "deps");
  await cp(join(modules, ".choir", "deps"), deps, { recursive: true });
  const path = join(deps, "_metadata.json");
  const metadata = JSON.parse(await readFile(path, "utf8"));
  // Of npm's lock files Vite reads the one in node_modules, which the shared packages come without.
  metadata.lockfileHash = hash("");
  metadata.configHash = configHash(server.environments.client.config);
  metadata.hash = hash(metadata.lockfileHash + metadata.configHash);
  for (const one of Object.values(metadata.optimized)) one.src = join(modules, one.src.split("/node_modules/").slice(1).join("/node_modules/"));
  await writeFile(path, JSON.stringify(metadata));
}

function hash(text) {
  return createHash("sha256").update(text).digest("hex").substring(0, 8);
}

/** As getConfigHash of Vite 8.3; where it ever differs the server bundles anew, and starts more slowly. */
function configHash({ mode, keepProcessEnv, resolve, assetsInclude, plugins, optimizeDeps, optimizeDepsPluginNames, root }) {
  const unique = (list) => (list ? [...new Set(list)].sort() : undefined);
  const { rolldownOptions } = optimizeDeps;
  const said = {
    define: keepProcessEnv ? null : process.env.NODE_ENV || mode,
    root,
    resolve,
    assetsInclude,
    plugins: plugins.map((p) => p.name),
    optimizeDeps: {
      include: unique(optimizeDeps.include),
      exclude: unique(optimizeDeps.exclude),
      rolldownOptions: {
        ...rolldownOptions,
        plugins: undefined,
        onLog: undefined,
        onwarn: undefined,
        checks: undefined,
        output: { ...rolldownOptions?.output, plugins: undefined },
      },
    },
    optimizeDepsPluginNames,
  };
  const plain = (_, value) => (typeof value === "function" || value instanceof RegExp ? value.toString() : value);
  return hash(JSON.stringify(said, plain));
}

/** Says what browsers are told: an error, or that a change went through. */
function report(hot) {
  const send = hot.send.bind(hot);
  hot.send = (...args) => {
    const [payload] = args;
    if (payload?.type === "error") {
      const { message, id, loc } = payload.err;
      say({ error: message, file: id ?? loc?.file ?? "", line: loc?.line ?? 0 });
    }
    if (payload?.type === "update" || payload?.type === "full-reload") say({ changed: true });
    return send(...args);
  };
}
