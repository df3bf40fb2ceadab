// The linter and the tests of a desktop's source, for check.mjs. Their packages have an archive of their own.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { movedFiles } from "./moved.mjs";

/** How many characters are told of what the linter finds, and of one test. */
const LINT_TOLD = 8000;
const TEST_TOLD = 2000;

/** Whether the packages of linter and tests are there. */
export function hasTools(modules) {
  return existsSync(join(modules, ".tools"));
}

/** Has the linter look at the source by the source's own rules; gives the mistakes, or "". */
export async function lint(root, modules) {
  const folder = join(modules, "@biomejs");
  const name = readdirSync(folder).find((name) => name === `cli-${process.platform}-${process.arch}`);
  if (!name) return "this build of choir carries no linter for this machine";
  const args = ["lint", "--diagnostic-level=error", "--max-diagnostics=20", "--colors=off", "."];
  return new Promise((done) => {
    execFile(join(folder, name, "biome"), args, { cwd: root, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      if (!error) return done("");
      const said = `${stderr}${stdout}`.trim() || error.message;
      done(said.length > LINT_TOLD ? `${said.slice(0, LINT_TOLD)}\nand more` : said);
    });
  });
}

/**
 * Runs the tests of the files that differ from the shipped source; gives each test with its name and what went wrong, "" for
 * nothing, and what kept tests from running, or "".
 */
export async function runTests(root, modules, folder) {
  const related = await changedFiles(root);
  if (related.length === 0) return { tests: [], failure: "" };
  const load = (path) => import(pathToFileURL(join(modules, path)).href);
  const [{ createVitest }, { default: react }] = await Promise.all([
    load("vitest/dist/node.js"),
    load("@vitejs/plugin-react/dist/index.js"),
  ]);
  const options = {
    root, config: false, watch: false, related, passWithNoTests: true, reporters: [{}], environment: "node", testTimeout: 30_000,
    include: ["src/**/*.test.{ts,tsx}", "base/**/*.test.{ts,tsx}"],
  };
  // A build, which may have been made in this process, says production, where React has no act().
  process.env.NODE_ENV = "test";
  const vite = { plugins: [react(), movedFiles(root)], cacheDir: join(folder, "tests"), resolve: { preserveSymlinks: true }, logLevel: "silent", clearScreen: false };
  // What vitest would write comes as results, or is told here.
  const quiet = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  const tests = [];
  const failures = [];
  const runner = await createVitest("test", options, vite, { stdout: quiet(), stderr: quiet() });
  try {
    await runner.start();
  } catch (error) {
    if (error?.code !== "VITEST_FILES_NOT_FOUND") failures.push(describe(error));
  }
  failures.push(...runner.state.getUnhandledErrors().map(describe));
  for (const module of runner.state.getTestModules()) {
    const file = relative(root, module.moduleId).split(sep).join("/");
    failures.push(...module.errors().map((error) => `${file}: ${describe(error)}`));
    for (const test of module.children.allTests()) {
      const { state, errors } = test.result();
      const wrong = state === "failed" ? errors.map(describe).join("\n") || "it failed" : "";
      tests.push({ name: `${file} > ${test.fullName}`.replace(/\s+/g, " "), skipped: state === "skipped", wrong });
    }
  }
  await runner.close();
  return { tests, failure: failures.join("\n") };
}

function describe(error) {
  return String(error?.stack ?? error?.message ?? error).replace(/\x1b\[[0-9;]*m/g, "").slice(0, TEST_TOLD);
}

/** The files of the source, as full paths, that are not as choir ships them. */
async function changedFiles(root) {
  const shipped = JSON.parse(await readFile(join(import.meta.dirname, "source.json"), "utf8"));
  const changed = [];
  for (const below of ["src", "base"]) {
    for (const entry of await readdir(join(root, below), { recursive: true, withFileTypes: true }).catch(() => [])) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const digest = createHash("sha256").update(await readFile(path)).digest("hex");
      if (shipped[relative(root, path).split(sep).join("/")] !== digest) changed.push(path);
    }
  }
  return changed;
}
