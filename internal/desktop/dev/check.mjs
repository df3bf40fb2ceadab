#!/usr/bin/env node
// Checks a desktop's source, inside a sandbox: node check.mjs ROOT MODULES
// It is built by Vite, TypeScript checks the types of all that the page is made of, its linter looks at it, the tests of what
// differs from the shipped source run, and the page is started in a browser of this machine, which has no network. The
// output is TAP.
import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { accessSync, constants, readdirSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { hasTools, lint, runTests } from "./checktools.mjs";
import { movedFiles } from "./moved.mjs";

const [root, modules] = process.argv.slice(2).map((path) => resolve(path));

/** How long the page may take until it shows something, and how long it is looked at after that, in milliseconds. */
const UP_MS = 60_000;
const LOOK_MS = 1_000;

/** How many bytes of the mistakes in types are told. */
const TYPES_TOLD = 8000;

/** The first releases with light-dark(), as in ui/desktop/vite.config.ts. */
const cssTarget = ["chrome123", "firefox120", "safari17.5"];

/** The content types of what a page is made of. */
const types = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/** How many tests passed, failed and did not run. */
const told = { pass: 0, fail: 0, skipped: 0 };

const work = await mkdtemp(join(tmpdir(), "choir-check-"));
try {
  process.exitCode = (await check(work)) ? 0 : 1;
} finally {
  await rm(work, { recursive: true, force: true, maxRetries: 3 });
}

/** Says how the build, the types, the linter, the tests and the start of the page were; false if one failed. */
async function check(folder) {
  const page = join(folder, "page");
  console.log("TAP version 13");
  const [wrong, mistyped] = await Promise.all([build(page), checkTypes(folder)]);
  tell("the desktop is built", wrong);
  tell("the desktop's types hold", mistyped);
  if (!hasTools(modules)) {
    for (const name of ["the desktop's linter finds no mistake", "the desktop's tests hold"]) skip(name, "the packages for it are not unpacked");
  } else {
    tell("the desktop's linter finds no mistake", await lint(root, modules));
    const { tests, failure } = await runTests(root, modules, folder);
    for (const { name, skipped, wrong } of tests) skipped ? skip(name, "it says so") : tell(name, wrong);
    tell("the desktop's tests hold", failure);
  }
  const browser = findBrowser();
  if (wrong) tell("the desktop's page comes up", "it was not built");
  else if (!browser) skip("the desktop's page comes up", "there is no browser on this machine");
  else tell("the desktop's page comes up", await start(browser, page, folder));
  const { pass, fail, skipped } = told;
  console.log(`1..${pass + fail + skipped}\n# tests ${pass + fail + skipped}\n# pass ${pass}\n# fail ${fail}\n# skipped ${skipped}`);
  return fail === 0;
}

/** Writes the result of one test, with what went wrong. */
function tell(name, wrong) {
  told[wrong ? "fail" : "pass"]++;
  console.log(`${wrong ? "not ok" : "ok"} ${told.pass + told.fail + told.skipped} - ${name}`);
  if (wrong) console.log(wrong.trim().replace(/^/gm, "# "));
}

/** Writes that a test did not run, and why. */
function skip(name, why) {
  told.skipped++;
  console.log(`ok ${told.pass + told.fail + told.skipped} - ${name} # SKIP ${why}`);
}

/** Builds the source into a folder; gives what went wrong, or "". */
async function build(outDir) {
  const load = (path) => import(pathToFileURL(join(modules, path)).href);
  const [vite, { default: react }] = await Promise.all([
    load("vite/dist/node/index.js"),
    load("@vitejs/plugin-react/dist/index.js"),
  ]);
  try {
    await vite.build({
      configFile: false,
      root,
      plugins: [react(), movedFiles(root)],
      logLevel: "silent",
      clearScreen: false,
      cacheDir: join(outDir, "..", "cache"),
      // Without it a postcss.config.js of the source would run here, and could say how the check went.
      css: { postcss: {} },
      build: { outDir, emptyOutDir: true, assetsInlineLimit: 0, minify: false, reportCompressedSize: false, cssTarget },
    });
    return "";
  } catch (e) {
    // Vite draws the place of an error in colours.
    return String(e?.message ?? e).replace(/\x1b\[[0-9;]*m/g, "");
  }
}

/** The compiler among the packages, which is a program of this machine; "" when there is none. */
function findTypeScript() {
  const folder = join(modules, "@typescript");
  try {
    const [name] = readdirSync(folder).filter((name) => name.endsWith(`${process.platform}-${process.arch}`));
    return name ? join(folder, name, "lib/tsc") : "";
  } catch {
    return "";
  }
}

/**
 * Checks the types of all modules that the page needs, by the rules that choir carries and not by the source's own; gives the
 * mistakes, or "".
 */
async function checkTypes(folder) {
  const program = findTypeScript();
  if (!program) return "this build of choir carries no TypeScript for this machine";
  const rules = join(folder, "tsconfig.json");
  const declared = readdirSync(join(root, "src")).filter((name) => name.endsWith(".d.ts"));
  const files = ["src/main.tsx", ...declared.map((name) => `src/${name}`)].map((name) => join(root, name));
  files.push(join(modules, "vite/client.d.ts"));
  const compilerOptions = { types: [], noEmit: true };
  await writeFile(rules, JSON.stringify({ extends: join(import.meta.dirname, "tsconfig.json"), files, compilerOptions }));
  const args = ["--pretty", "false", "-p", rules];
  return new Promise((done) => {
    execFile(program, args, { cwd: root, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      if (!error) return done("");
      const said = `${stdout}${stderr}`.trim() || error.message;
      done(said.length > TYPES_TOLD ? `${said.slice(0, TYPES_TOLD)}\nand more` : said);
    });
  });
}

/** The first browser of this machine, the one that starts fastest before others. */
function findBrowser() {
  const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
  return names.map((name) => `/usr/bin/${name}`).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * Runs in the page before all else: tells of every error, and of the first thing that is drawn, at an address that the
 * page's own code does not learn.
 */
function watch(address, lookMS) {
  document.currentScript.remove();
  const send = navigator.sendBeacon.bind(navigator);
  const tell = (seen) => send(address, JSON.stringify(seen));
  const wrong = (error) => tell({ wrong: String(error?.stack ?? error).slice(0, 4000) });
  addEventListener("error", (e) => e.message && wrong(e.error ?? e.message));
  const { error } = console;
  // React says here what a part of the page threw, also when another part shows that it is missing.
  console.error = (...args) => {
    for (const one of args) if (one instanceof Error) wrong(one);
    error.apply(console, args);
  };
  const look = () => {
    if (document.getElementById("root")?.childElementCount) setTimeout(() => tell({ up: true }), lookMS);
    else requestAnimationFrame(look);
  };
  addEventListener("DOMContentLoaded", look);
}

/** An empty desktop, and nothing else: the page is a computer's that does not answer. */
function answer(path) {
  return path.endsWith("/desktop") ? { seq: 1, windows: [], settings: [] } : undefined;
}

/** Starts the built page in a browser; gives what went wrong, or "". */
async function start(browser, page, folder) {
  let seen;
  const told = new Promise((done) => {
    seen = done;
  });
  const place = { page, seen, address: `/${randomUUID()}`, told: false };
  const server = createServer((request, response) => serve(request, response, place));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", `--user-data-dir=${join(folder, "profile")}`];
  // A process group of its own: the browser's children end with it.
  const child = spawn(browser, [...args, `http://127.0.0.1:${server.address().port}/`], { stdio: ["ignore", "ignore", "pipe"], detached: true });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said = (said + chunk).slice(-2000);
  });
  const ended = once(child, "close").then(() => `the browser ended: ${said}`, (e) => `the browser does not start: ${e.message}`);
  const late = new Promise((done) => setTimeout(done, UP_MS, `nothing was drawn within ${UP_MS / 1000} seconds`).unref());
  const wrong = await Promise.race([told, ended, late]);
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {} // it has ended
  await ended;
  server.closeAllConnections();
  server.close();
  return wrong;
}

/** Serves the built page, an answer of the API, or takes what the page tells. Only the first page has the address for that. */
async function serve(request, response, place) {
  const { pathname } = new URL(request.url, "http://page");
  if (pathname === place.address) {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { wrong } = JSON.parse(body);
    response.writeHead(204).end();
    return place.seen(wrong ?? "");
  }
  if (pathname.startsWith("/api/")) {
    const found = answer(pathname);
    const problem = { code: "unavailable", message: "this page is being checked" };
    return response.writeHead(found ? 200 : 503, { "Content-Type": "application/json" }).end(JSON.stringify(found ?? problem));
  }
  const path = join(place.page, pathname === "/" ? "index.html" : decodeURIComponent(pathname));
  const content = await readFile(path).catch(() => undefined);
  if (!content) return response.writeHead(404).end();
  response.setHeader("Content-Type", types[extname(path)] ?? "application/octet-stream");
  if (pathname !== "/" || place.told) return response.end(content);
  place.told = true;
  response.end(String(content).replace("<head>", `<head><script>(${watch})("${place.address}", ${LOOK_MS})</script>`));
}
